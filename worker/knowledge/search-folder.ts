// Searches the text files of a folder. Bounded in files, bytes and time: what was found until then is the result.
import { readFile, realpath, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Clock } from '../../shared/clock.js';
import { detectText } from '../tools/files/text-codec.js';
import { newReport, walkFiles } from '../tools/search/walk-files.js';
import { type Passage, Ranking } from './ranking.js';
import { searchWords } from './words.js';

const ENTRIES_MAX = 50_000;
/** A larger file is data rather than something to cite. */
const FILE_BYTES_MAX = 1024 * 1024;
const TOTAL_BYTES_MAX = 256 * 1024 * 1024;
const WORDS_MAX = 32;

export async function searchFolder(
  root: string,
  query: string,
  top: number,
  bounds: { readonly clock: Clock; readonly signal: AbortSignal; readonly timeMs: number },
): Promise<Passage[]> {
  const words = searchWords(query, WORDS_MAX);
  if (words.length === 0) return [];
  const ranking = new Ranking(words);
  const { clock, signal, timeMs } = bounds;
  const endsAt = clock.monotonic() + timeMs;
  const options = { clock, signal, timeMs, entriesMax: ENTRIES_MAX, includeIgnored: false };
  const from = await realpath(root);
  let left = TOTAL_BYTES_MAX;
  for await (const { names, type } of walkFiles(from, options, newReport())) {
    if (type !== 'file') continue;
    if (signal.aborted || left <= 0 || clock.monotonic() > endsAt) break;
    const text = await readText(join(from, ...names));
    if (text === null) continue;
    left -= text.length;
    ranking.add(names.join('/'), text);
  }
  return ranking.best(top);
}

/** Null for what is no text, too large, or gone. The walk has seen that it is a regular file. */
async function readText(path: string): Promise<string | null> {
  try {
    const { size } = await stat(path);
    if (size === 0 || size > FILE_BYTES_MAX) return null;
    const bytes = await readFile(path);
    const format = detectText(bytes.subarray(0, 4_096), bytes.length <= 4_096);
    if (format === null || format.encoding === 'utf-16be') return null;
    const encoding = format.encoding === 'utf-16le' ? 'utf16le' : format.encoding;
    return bytes.subarray(format.bomBytes).toString(encoding);
  } catch {
    return null;
  }
}
