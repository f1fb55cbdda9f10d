// Freezes the input of one turn. What a worker knows of the world is in here; secrets ride beside it.
import type { Config } from '../../config/schema.js';
import { contentName } from '../../shared/content-name.js';
import type {
  ModelSettings,
  SecuritySnapshot,
  TurnLimits,
  TurnSnapshot,
} from '../../shared/ipc/turn-snapshot.js';
import { canonicalJson, type JsonValue } from '../../shared/json.js';
import { SUBAGENT } from '../../shared/tools/subagent-tools.js';
import type { PlannedTool } from '../../shared/tools/tool-plan.js';
import { estimateMessages } from '../../shared/transcript/estimate-tokens.js';
import type { Message } from '../../shared/transcript/message.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { placeKnowledge } from './knowledge-place.js';
import { memoryHint } from './memory-hint.js';
import { priorOf } from './prior.js';
import { readProjectNotes } from './project-notes.js';
import { renderPrompt } from './prompt.js';
import { makeSpool } from './spool.js';
import type { Template } from './template.js';
import { toolPlan } from './tool-plan.js';
import { transcriptSlice } from './transcript-slice.js';
import { allowanceOf } from './turn-limits.js';

/** `messages` by our estimate, `request` in tokens of the model. */
interface SnapshotRoom {
  readonly messages: number;
  readonly request: number;
  readonly fixedTokens: number;
  readonly ratio: number;
  readonly window: number;
}

export interface SnapshotParts {
  readonly store: Store;
  readonly config: Config;
  readonly template: Template;
  readonly model: ModelSettings;
  /** Who goes on in its place, in this order; left out: nobody. */
  readonly fallbacks?: readonly ModelSettings[];
  readonly security: SecuritySnapshot;
  readonly workspaceRoot: string;
  /** Value of the marker that every process of this turn carries. */
  readonly marker: string;
  /** A budget is set: the worker asks before each model call. */
  readonly budgetAdmission: boolean;
  /** Reference texts for this turn; left out or empty: none. */
  readonly knowledge?: string;
  /** How much of the conversation fits beside this; left out: all of it is shown. */
  room?(model: ModelSettings, systemPrompt: string, tools: readonly PlannedTool[]): SnapshotRoom;
}

export function buildSnapshot(
  parts: SnapshotParts,
  turn: { readonly turnId: string; readonly threadId: string },
): TurnSnapshot {
  const { config } = parts;
  const security = securityOf(parts, turn.turnId);
  const row = parts.store.turns.get(turn.turnId);
  const { tools: only, output_schema: schema, instruction: role = '' } = row?.options ?? {};
  const prior = priorOf(parts.store, turn.turnId);
  const tools = toolPlan().filter(({ name }) => (only?.includes(name) ?? true) && isOffered(name, config));
  const { slot, notes: references } = placeKnowledge(parts.template, parts.knowledge ?? '');
  const notes = [...rememberedBy(parts.store, turn.turnId, tools), ...references];
  const systemPrompt = renderPrompt(parts.template, {
    name: config.agent.name,
    instruction: [config.agent.instruction, role].filter((text) => text !== '').join('\n\n'),
    workspace_root: parts.workspaceRoot,
    tools: tools.map((tool) => tool.name),
    instructions: readProjectNotes(parts.workspaceRoot, config.context.instructions_max_bytes),
    restricted: security.mode !== 'full_access',
    mode: security.mode,
    knowledge: slot,
  });
  const room = parts.room?.(parts.model, systemPrompt, tools);
  return {
    turn_id: turn.turnId,
    thread_id: turn.threadId,
    instance: config.agent.name,
    idempotency_prefix: `${config.agent.name}/${turn.threadId}#${turn.turnId}`,
    system_prompt: systemPrompt,
    messages: [
      ...transcriptSlice(parts.store, turn.threadId, turn.turnId, roomBeside(room, notes)),
      ...notes,
    ],
    tools,
    model: parts.model,
    ...(parts.fallbacks?.length ? { fallbacks: [...parts.fallbacks] } : {}),
    limits: limitsOf(config, row),
    security,
    workspace_root: parts.workspaceRoot,
    spool_dir: makeSpool(parts.store.dir, turn.turnId),
    process_marker: parts.marker,
    budget_admission: parts.budgetAdmission,
    ...(prior === undefined ? {} : { prior }),
    ...(schema === undefined ? {} : { output_schema: schema }),
    ...(room === undefined ? {} : { context: foldingOf(room, config) }),
  };
}

/** As of the start of the turn. */
function rememberedBy(store: Store, turnId: string, tools: readonly PlannedTool[]): Message[] {
  const row = store.turns.get(turnId);
  const names = tools.map((tool) => tool.name);
  return memoryHint(store.memory, names, row?.started_at_ms ?? row?.created_at_ms ?? 0);
}

/** A turn may name its own permission mode. */
function securityOf({ security, store }: SnapshotParts, turnId: string): SecuritySnapshot {
  const mode = store.turns.get(turnId)?.options.permission_mode;
  return mode === undefined ? security : { ...security, mode, source: 'client' };
}

function roomBeside(room: SnapshotRoom | undefined, notes: readonly Message[]): number | undefined {
  return room === undefined ? undefined : Math.max(0, room.messages - estimateMessages(notes));
}

function foldingOf(room: SnapshotRoom, { context }: Config): NonNullable<TurnSnapshot['context']> {
  return {
    fold_tokens: room.request,
    window_tokens: room.window,
    folds: context.max_compactions,
    fixed_tokens: room.fixedTokens,
    calibration: room.ratio,
  };
}

/** Where there are no subagents, their tools would only invite refusals. */
function isOffered(name: string, { limits }: Config): boolean {
  return limits.subagents.depth > 0 || !name.startsWith(SUBAGENT);
}

function limitsOf(config: Config, row: TurnRow | undefined): TurnLimits {
  const { limits } = config;
  const { rounds, tokens, deadline_ms: deadlineMs } = allowanceOf(limits.run, row?.options);
  return {
    ...{ rounds, tokens },
    deadline_ms: Math.max(0, deadlineMs - (row?.active_ms ?? 0)),
    loop_repeats: limits.run.loop_repeats,
    tool_output_bytes: limits.tool_output_bytes,
    spill_bytes: limits.exec.spill_bytes,
    file_bytes: limits.file_bytes,
    exec_timeout_ms: limits.exec.timeout_ms,
    exec_timeout_max_ms: limits.exec.timeout_max_ms,
    exec_yield_ms: limits.exec.yield_ms,
    parallel_calls: limits.parallel_calls,
    fetch_bytes: limits.fetch.bytes,
    fetch_ms: limits.fetch.time_ms,
  };
}

/** Names the exact input of a turn: equal input has equal names. Not for proving anything to anybody. */
export function snapshotHash(snapshot: TurnSnapshot): string {
  const named = { ...snapshot, tools: snapshot.tools.map(nameOfTool) };
  return contentName(canonicalJson(named as unknown as JsonValue));
}

/** Tools make up most of a snapshot and are the same objects in all of them. */
const toolNames = new WeakMap<PlannedTool, string>();

function nameOfTool(tool: PlannedTool): string {
  const known = toolNames.get(tool);
  if (known !== undefined) return known;
  const name = contentName(canonicalJson(tool as unknown as JsonValue));
  toolNames.set(tool, name);
  return name;
}
