// Which calls of the folded part did something: they are listed from the journal, never from a model's memory, so that
// nothing is done twice because a summary forgot it.
import { canonicalJson } from '../../shared/json.js';
import { toolSpec } from '../../shared/tools/catalogue.js';
import { shortText } from '../../shared/transcript/fit.js';
import type { DoneEffect } from '../../shared/transcript/summary.js';
import type { EventRow } from '../store/rows.js';

const ARGUMENTS_CHARS = 300;

export function doneEffects(rows: readonly EventRow[]): DoneEffect[] {
  const ends = new Map<string, DoneEffect['end'] | null>();
  for (const { event } of rows)
    if (event.kind === 'tool_result') ends.set(event.call_id, endOf(event.end, event.is_error));
  const effects: DoneEffect[] = [];
  for (const { event } of rows) {
    if (event.kind !== 'tool_intent' || event.verdict !== 'allow' || !changes(event.tool)) continue;
    const end = ends.has(event.call_id) ? ends.get(event.call_id) : 'effect unknown';
    if (end === null || end === undefined) continue;
    const args = shortText(canonicalJson(event.arguments), ARGUMENTS_CHARS, undefined);
    effects.push({ tool: event.tool, arguments: args.replaceAll('\n', ' '), end });
  }
  return effects;
}

/** Reading changes nothing, and the plan is carried by itself. A tool that is not ours may do anything. */
function changes(tool: string): boolean {
  if (tool.startsWith('plan.')) return false;
  const action = toolSpec(tool)?.action;
  return action !== 'read' && action !== 'search' && action !== 'control';
}

function endOf(end: string, isError: boolean): DoneEffect['end'] | null {
  if (end === 'done') return isError ? 'failed' : 'done';
  return end === 'interrupted' ? 'effect unknown' : null;
}
