// Works out an edit: what the file would hold, or why that cannot be told. Pure.
import { textOfUnits, unitsOfText } from '../files/text-codec.js';
import { ToolFailure } from '../files/tool-failure.js';
import { apart, findText, lineAt, type Span } from './find-text.js';
import { commonLineEnd, withLineEnds } from './line-ends.js';
import { whyNotFound } from './near-match.js';
import type { TextFile } from './text-file.js';

export interface Replacement {
  readonly oldText: string;
  readonly newText: string;
  readonly all: boolean;
  readonly expectedCount: number | undefined;
}

export interface Replaced {
  readonly units: string;
  readonly count: number;
  /** First lines of the places, in the file as it was. */
  readonly lines: readonly number[];
}

const PLACES_MAX = 100_000;
const LINES_NAMED = 20;

export function replaceText(file: TextFile, shown: string, wanted: Replacement): Replaced {
  const { encoding } = file.format;
  const oldUnits = unitsOfText(wanted.oldText, encoding);
  const newUnits = unitsOfText(wanted.newText, encoding);
  if (newUnits === null)
    throw new ToolFailure(
      `${shown} is ${encoding}, which has no sign for some of new_text. Use other signs.`,
    );
  const found =
    oldUnits === null ? { spans: [], byMeaning: false } : findText(file.units, oldUnits, PLACES_MAX);
  const spans = chosen(file, shown, wanted, found.spans);
  const units = splice(file.units, spans, (span) => {
    if (!found.byMeaning && wanted.newText.includes('\r')) return newUnits;
    const end = commonLineEnd(file.units.slice(span.from, span.to)) ?? commonLineEnd(file.units);
    return end === null ? newUnits : withLineEnds(newUnits, end);
  });
  if (units === file.units)
    throw new ToolFailure('old_text and new_text are the same here; nothing would change.');
  return { units, count: spans.length, lines: linesOf(file.units, spans) };
}

function chosen(file: TextFile, shown: string, wanted: Replacement, spans: readonly Span[]): readonly Span[] {
  const { all, expectedCount } = wanted;
  if (spans.length === 0) {
    const text = textOfUnits(file.units, file.format.encoding).replaceAll('\r\n', '\n');
    const why = whyNotFound(text, wanted.oldText.replaceAll('\r\n', '\n'));
    throw new ToolFailure(`old_text is not in ${shown}; nothing was written. ${why}`, { code: 'no_match' });
  }
  const separate = apart(spans);
  const lines = [...new Set(linesOf(file.units, spans))];
  if (expectedCount !== undefined && expectedCount !== separate.length)
    throw new ToolFailure(
      `old_text occurs ${separate.length} times in ${shown}, not ${expectedCount} (lines ${lines.join(', ')}); nothing was written.`,
      { code: 'other_count', lines },
    );
  if (all || spans.length === 1) return separate;
  throw new ToolFailure(
    `old_text occurs ${spans.length} times in ${shown} (lines ${lines.join(', ')}); nothing was written. ` +
      'Add lines around the place that is meant, or set replace_all.',
    { code: 'several_matches', lines },
  );
}

function splice(units: string, spans: readonly Span[], replacement: (span: Span) => string): string {
  const parts: string[] = [];
  let at = 0;
  for (const span of spans) {
    parts.push(units.slice(at, span.from), replacement(span));
    at = span.to;
  }
  parts.push(units.slice(at));
  return parts.join('');
}

function linesOf(units: string, spans: readonly Span[]): number[] {
  return spans.slice(0, LINES_NAMED).map((span) => lineAt(units, span.from));
}
