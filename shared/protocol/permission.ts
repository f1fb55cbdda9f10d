// What a turn may do without asking, as clients choose it and see it.
import * as v from 'valibot';
import { behaviourOf, PERMISSION_MODES, type PermissionMode } from '../policy/permission-mode.js';
import { named } from './named.js';

const turnPermissionMode = named('TurnPermissionMode', v.picklist(PERMISSION_MODES));

export const turnPermissionProfileSelection = named(
  'TurnPermissionProfileSelection',
  v.object({ mode: turnPermissionMode }),
);

const permissionBehavior = named('PermissionBehavior', v.picklist(['allow', 'ask', 'deny']));

const toolPermissionPolicySnapshot = named(
  'ToolPermissionPolicySnapshot',
  v.object({
    default_behavior: permissionBehavior,
    file_read: permissionBehavior,
    file_write: permissionBehavior,
    shell_command: permissionBehavior,
    network: permissionBehavior,
    mcp_read: permissionBehavior,
    mcp_write_or_unknown: permissionBehavior,
    dynamic_skill_tool: permissionBehavior,
    computer_use: permissionBehavior,
    task_subagent: permissionBehavior,
    allowed_tools: v.optional(v.array(v.string())),
    denied_tools: v.optional(v.array(v.string())),
    allowed_paths: v.optional(v.array(v.string())),
  }),
);

const turnPermissionProfileSource = named(
  'TurnPermissionProfileSource',
  v.picklist(['composer', 'defaulted', 'inherited_from_parent_turn', 'task_permission_cap', 'system']),
);

export const turnPermissionProfileSnapshot = named(
  'TurnPermissionProfileSnapshot',
  v.object({
    mode: turnPermissionMode,
    source: turnPermissionProfileSource,
    effective_policy: toolPermissionPolicySnapshot,
  }),
);
export type TurnPermissionProfileSnapshot = v.InferOutput<typeof turnPermissionProfileSnapshot>;

/** The profile of a turn in full. What a mode has no rule for, it asks about. */
export function permissionProfile(
  mode: PermissionMode,
  source: TurnPermissionProfileSnapshot['source'],
): TurnPermissionProfileSnapshot {
  const rest = mode === 'full_access' ? 'allow' : 'ask';
  return {
    mode,
    source,
    effective_policy: {
      default_behavior: rest,
      file_read: behaviourOf(mode, 'read'),
      file_write: behaviourOf(mode, 'edit'),
      shell_command: behaviourOf(mode, 'command'),
      network: behaviourOf(mode, 'network'),
      mcp_read: 'allow',
      mcp_write_or_unknown: rest,
      dynamic_skill_tool: rest,
      computer_use: rest,
      task_subagent: rest,
    },
  };
}
