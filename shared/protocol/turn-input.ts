// What a client may send with a message: the parts of the message itself, and how its turn should run.
import * as v from 'valibot';
import { count, named } from './named.js';
import { turnPermissionProfileSelection } from './permission.js';

const textElement = named(
  'TextElement',
  v.object({
    byte_range: named('ByteRange', v.object({ start: count, end: count })),
    placeholder: v.nullish(v.string()),
  }),
);

const byUrl = <const Type extends string>(type: Type) => v.object({ type: v.literal(type), url: v.string() });
const byPath = <const Type extends string>(type: Type) =>
  v.object({ type: v.literal(type), path: v.string() });

export const userInput = named(
  'UserInput',
  v.variant('type', [
    v.object({
      type: v.literal('text'),
      text: v.string(),
      textElements: v.optional(v.array(textElement), []),
    }),
    byUrl('image'),
    byUrl('file'),
    byUrl('audio'),
    byUrl('video'),
    byPath('localImage'),
    byPath('localFile'),
    byPath('localAudio'),
    byPath('localVideo'),
    v.object({ type: v.literal('artifact'), artifactId: v.string(), versionId: v.nullish(v.string()) }),
    v.object({ type: v.literal('mention'), name: v.string(), path: v.string() }),
  ]),
);
export type UserInput = v.InferOutput<typeof userInput>;

const mcpScopeKind = named('McpScopeKind', v.picklist(['workspace', 'user']));
/** Older clients name a skill by its slug and where it comes from, newer ones by its id. */
const skill = {
  type: v.literal('skill'),
  skillId: v.nullish(v.string()),
  packId: v.nullish(v.string()),
  slug: v.nullish(v.string()),
  sourceKind: v.nullish(v.string()),
};
const turnCapabilityKind = named(
  'TurnCapabilityKind',
  v.variant('type', [
    v.object(skill),
    v.object({ type: v.literal('skillPack'), packId: v.string() }),
    v.object({ type: v.literal('mcpServer'), name: v.string(), scopeKind: mcpScopeKind }),
    v.object({
      type: v.literal('mcpTool'),
      serverName: v.string(),
      rawToolName: v.string(),
      scopeKind: mcpScopeKind,
    }),
  ]),
);
const turnCapability = named(
  'TurnCapability',
  v.object({ id: v.string(), kind: turnCapabilityKind, label: v.nullish(v.string()) }),
);

export const threadMode = named('ThreadMode', v.picklist(['Chat', 'Agent']));
export type ThreadMode = v.InferOutput<typeof threadMode>;

export const sandboxMode = named('SandboxMode', v.picklist(['FullAccess']));

const agentExecutionBackend = named(
  'AgentExecutionBackend',
  v.variant('type', [
    v.object({ type: v.literal('apiProvider'), provider: v.string() }),
    v.object({
      type: v.literal('cliAgentRuntime'),
      runtime_id: v.string(),
      runtime_kind: named('CLIAgentRuntimeKind', v.picklist(['codex', 'claude'])),
    }),
    v.object({ type: v.literal('acpAgentRuntime'), runtime_id: v.string() }),
  ]),
);

const cliRuntimeOptions = named(
  'TurnCLIRuntimeOptions',
  v.object({
    sandbox: v.optional(v.unknown()),
    effort: v.nullish(v.string()),
    personality: v.nullish(v.string()),
    summary: v.nullish(v.string()),
    steer_if_active: v.nullish(v.boolean()),
  }),
);

/** Fields of `turn/start` beside its ids. */
export const turnStartFields = {
  input: v.optional(v.array(userInput), []),
  capabilities: v.optional(v.array(turnCapability), []),
  model: v.nullish(v.string()),
  model_provider: v.nullish(v.string()),
  sandbox_policy: v.nullish(named('SandboxPolicy', v.object({ mode: sandboxMode }))),
  mode: v.nullish(threadMode),
  execution_backend: v.nullish(agentExecutionBackend),
  reasoning: v.nullish(named('TurnReasoningSelection', v.object({ effort: v.string() }))),
  permission_profile: v.nullish(turnPermissionProfileSelection),
  cli_runtime_options: v.nullish(cliRuntimeOptions),
};
