// Asks for a file and reads what came back.
import type { JsonObject, JsonValue } from '../../../shared/json.js';
import type { LineRange } from './command.js';
import { flagIn, numberIn, textIn } from './content.js';
import type { Ask } from './plan.js';

export interface FileView {
  /** The lines that came; null for a file that is not text. */
  readonly text: string | null;
  readonly firstLine: number;
  readonly lastLine: number;
  /** Of the whole file, where the tool said it. */
  readonly lines: number | null;
  readonly bytes: number | null;
  /** There is more in the file than came. */
  readonly cut: boolean;
  readonly mime: string | null;
}

export function readFile(path: string, range: LineRange | null = null): Ask {
  const args: JsonObject = { path };
  if (range?.kind === 'between') {
    args['start_line'] = range.from;
    if (range.to !== null) args['end_line'] = range.to;
  }
  if (range?.kind === 'last') args['start_line'] = -range.count;
  return { tool: 'read_file', arguments: args };
}

export function fileViewOf(content: JsonValue): FileView {
  const text = textIn(content, 'text') ?? textIn(content, 'content');
  const shown = text === null ? 0 : lineCount(text);
  const firstLine = numberIn(content, 'start_line') ?? 1;
  const lines = numberIn(content, 'total_lines');
  const lastLine = numberIn(content, 'end_line') ?? firstLine + Math.max(0, shown - 1);
  return {
    text,
    firstLine,
    lastLine,
    lines,
    bytes: numberIn(content, 'bytes') ?? numberIn(content, 'size'),
    cut: flagIn(content, 'truncated') || (lines !== null && lastLine < lines),
    mime: textIn(content, 'mime'),
  };
}

export function lineCount(text: string): number {
  return text === '' ? 0 : text.replace(/\n$/, '').split('\n').length;
}
