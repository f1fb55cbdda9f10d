// The shape of what a client renders: the variants of a turn's items that this product makes.
import * as v from 'valibot';
import { jsonValue } from '../json.js';
import { count, named, whole } from './named.js';

const metadata = v.record(v.string(), jsonValue);

const toolCallStatus = named('ToolCallStatus', v.picklist(['in_progress', 'completed', 'failed']));

const mode = <const Mode extends string>(name: Mode) => v.object({ mode: v.literal(name) });
const byteMode = <const Mode extends string>(name: Mode) =>
  v.object({ mode: v.literal(name), max_bytes: count });
const charMode = <const Mode extends string>(name: Mode) =>
  v.object({ mode: v.literal(name), max_chars: count });

const diagnosticExcerptPolicy = named(
  'DiagnosticExcerptPolicy',
  v.variant('mode', [mode('disabled'), charMode('errors_only'), charMode('output')]),
);

const toolOutputPolicySnapshot = named(
  'ToolOutputPolicySnapshot',
  v.object({
    llm: named(
      'LlmOutputPolicy',
      v.variant('mode', [byteMode('full'), byteMode('structured'), mode('summary_only')]),
    ),
    llmRetention: named(
      'LlmRetentionPolicy',
      v.variant('mode', [byteMode('until_turn_terminal'), mode('do_not_retain')]),
    ),
    timeline: named(
      'TimelineOutputPolicy',
      v.variant('mode', [byteMode('full'), charMode('summary'), mode('metadata_only'), mode('hidden')]),
    ),
    storage: named(
      'StorageOutputPolicy',
      v.variant('mode', [byteMode('full'), charMode('summary'), mode('metadata_only'), mode('none')]),
    ),
    recovery: named(
      'RecoveryOutputPolicy',
      v.variant('mode', [
        v.object({
          mode: v.literal('evidence'),
          include_exit_status: v.boolean(),
          include_error_class: v.boolean(),
          include_retry_hint: v.boolean(),
          diagnostic_excerpt: diagnosticExcerptPolicy,
          include_fingerprints: v.boolean(),
        }),
        mode('metadata_only'),
        mode('none'),
      ]),
    ),
    deltas: named(
      'DeltaOutputPolicy',
      v.variant('mode', [
        v.object({ mode: v.literal('persist_and_display'), max_chunk_bytes: count, max_total_bytes: count }),
        mode('progress_only'),
        mode('disabled'),
      ]),
    ),
  }),
);

const shellPayload = v.object({
  kind: v.literal('shell'),
  stdout: v.nullish(v.string()),
  stderr: v.nullish(v.string()),
  aggregated_output: v.nullish(v.string()),
  exit_code: v.nullish(whole),
  duration_ms: v.nullish(count),
  timed_out: v.nullish(v.boolean()),
  truncated: v.boolean(),
});
const summaryPayload = v.object({
  kind: v.literal('summary'),
  title: v.string(),
  lines: v.optional(v.array(v.string())),
  metadata,
  truncated: v.boolean(),
});

const toolDisplayPayload = named(
  'ToolDisplayPayload',
  v.variant('kind', [
    shellPayload,
    summaryPayload,
    v.object({ kind: v.literal('progress'), stage: v.string(), metadata }),
    v.object({ kind: v.literal('hidden') }),
  ]),
);
const toolStoragePayload = named(
  'ToolStoragePayload',
  v.variant('kind', [
    shellPayload,
    summaryPayload,
    v.object({ kind: v.literal('metadata'), metadata }),
    v.object({ kind: v.literal('none') }),
  ]),
);

/** What every item of a tool call has. */
const tool = {
  id: v.string(),
  toolName: v.string(),
  arguments: jsonValue,
  status: toolCallStatus,
  outputPolicy: toolOutputPolicySnapshot,
  display: toolDisplayPayload,
  storage: toolStoragePayload,
  success: v.nullish(v.boolean()),
};

const webFetchLink = named('WebFetchLink', v.object({ text: v.string(), url: v.string() }));

/** Kinds of items, as other messages name them. */
export const turnItemType = named(
  'TurnItemType',
  v.picklist([
    'user_message',
    'agent_message',
    'reasoning',
    'system_event',
    'task',
    'command_execution',
    'file_change',
    'web_search',
    'web_fetch',
    'download',
    'dynamic_tool_call',
  ]),
);

export const turnItem = named(
  'TurnItem',
  v.variant('type', [
    v.object({
      type: v.literal('userMessage'),
      id: v.string(),
      text: v.string(),
      attachments: v.optional(v.array(jsonValue)),
    }),
    v.object({
      type: v.literal('agentMessage'),
      id: v.string(),
      text: v.string(),
      phase: v.optional(named('AgentMessagePhase', v.picklist(['final_answer', 'commentary']))),
    }),
    v.object({
      type: v.literal('systemEvent'),
      id: v.string(),
      level: named('SystemEventLevel', v.picklist(['info', 'warning', 'error'])),
      message: v.string(),
      code: v.nullish(v.string()),
    }),
    v.object({
      type: v.literal('commandExecution'),
      ...tool,
      command: v.optional(v.array(v.string()), []),
      cwd: v.nullish(v.string()),
    }),
    v.object({
      type: v.literal('fileChange'),
      ...tool,
      changedFiles: v.optional(v.array(v.string()), []),
    }),
    v.object({
      type: v.literal('webFetch'),
      ...tool,
      url: v.nullish(v.string()),
      links: v.optional(v.array(webFetchLink), []),
    }),
    v.object({ type: v.literal('dynamicToolCall'), ...tool }),
  ]),
);
export type TurnItem = v.InferOutput<typeof turnItem>;
