// How hard a model is asked to think, in the words of each family. Pure: writers put it where their dialect wants it.
import type { ReasoningEffort } from '../../shared/ipc/turn-snapshot.js';
import type { JsonObject } from '../../shared/json.js';
import type { ModelRequest } from './provider.js';

/** Chat completions and responses. */
export const EFFORTS: Readonly<Record<ReasoningEffort, string>> = {
  minimal: 'minimal',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'xhigh',
  max: 'xhigh',
};

const CLAUDE_EFFORTS: Readonly<Record<ReasoningEffort, string>> = { ...EFFORTS, minimal: 'low', max: 'max' };

/** Claude models before 4.6 are given a number of tokens to think in, later ones judge by themselves. */
const COUNTED = /claude-(?:[23]|(?:instant|opus|sonnet|haiku)-(?:3|4-[0-5](?!\d)|4(?:-?20\d|-v|@|$)))/;
/** The least that they take. */
const BUDGET_MIN = 1_024;

/** Request fields by the names under which they may be refused. Empty for a model that is not to think. */
export function claudeThinking(
  { messages, settings }: Pick<ModelRequest, 'messages' | 'settings'>,
  omit: ReadonlySet<string>,
): Map<string, JsonObject> {
  const { model, reasoning_effort: effort, thinking_tokens: room = 0 } = settings;
  const fields = new Map<string, JsonObject>();
  const counted = COUNTED.test(model);
  if (room === 0 || (counted && !thoughtOf(messages, model))) return fields;
  const thinking: JsonObject = counted
    ? { type: 'enabled', budget_tokens: Math.max(BUDGET_MIN, room) }
    : { type: 'adaptive' };
  fields.set('thinking', { thinking });
  if (effort !== undefined && !counted)
    fields.set('effort', { output_config: { effort: CLAUDE_EFFORTS[effort] } });
  for (const name of omit) fields.delete(name);
  return fields;
}

/** In the middle of calls these models go on thinking only where they thought before, and refuse anything else. */
function thoughtOf(messages: ModelRequest['messages'], model: string): boolean {
  if (messages.at(-1)?.role !== 'tool') return true;
  const last = messages.findLast((message) => message.role === 'assistant');
  return last?.role === 'assistant' && (last.reasoning ?? []).some((part) => part.model === model);
}
