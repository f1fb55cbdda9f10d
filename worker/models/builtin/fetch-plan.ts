// Fetches a web page or file and shows what came.
import type { Command } from './command.js';
import { flagIn, numberIn, textIn } from './content.js';
import { ask, type Plan } from './plan.js';
import { failed, joinText } from './told.js';
import { block, fenced, head, oneLine, sizeText } from './wording.js';

const MOST_SHOWN = 8_000;

export function* fetchPlan(command: Extract<Command, { kind: 'fetch' }>): Plan {
  const given = yield* ask('web_fetch', { url: command.url });
  const url = oneLine(command.url, 300);
  if (given.failure !== null) return failed(`${url} could not be fetched: ${given.failure}.`);
  const { content } = given;
  const text = textIn(content, 'text');
  const bytes = numberIn(content, 'bytes');
  const last = textIn(content, 'url');
  const facts = [
    `status ${numberIn(content, 'status') ?? 'unknown'}`,
    textIn(content, 'content_type') ?? '',
    bytes === null ? '' : sizeText(bytes),
    last === null || last === command.url ? '' : `from ${last}`,
  ].filter((fact) => fact !== '');
  const opening = `${url}: ${facts.map((fact) => oneLine(fact, 300)).join(', ')}.`;
  if (text === null) return { text: joinText(opening, 'It is no text that could be shown.'), result: null };
  const shown = head(block(text), MOST_SHOWN);
  const cut = flagIn(content, 'truncated') || !shown.whole;
  return {
    text: joinText(
      opening,
      text.trim() === '' ? 'It is empty.' : fenced(shown.text),
      cut ? 'Only the first part is shown.' : '',
    ),
    result: text,
  };
}
