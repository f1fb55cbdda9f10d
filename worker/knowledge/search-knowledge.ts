// One search for reference texts, wherever they are, cut to what may be shown of them.
import type { Clock } from '../../shared/clock.js';
import type { SearchHit, SearchOrder } from '../../shared/ipc/search.js';
import { cutText, sendableText } from '../../shared/transcript/unicode.js';
import { searchFolder } from './search-folder.js';
import { searchServer } from './search-server.js';

const SOURCE_BYTES = 500;

/** Best first. Rejects when nothing could be searched. */
export async function searchKnowledge(
  order: SearchOrder,
  clock: Clock,
  signal: AbortSignal,
): Promise<SearchHit[]> {
  const { place, query, top, bytes, time_ms: timeMs } = order;
  const stop = new AbortController();
  const onEnd = (): void => stop.abort();
  const cancel = clock.after(timeMs, onEnd);
  signal.addEventListener('abort', onEnd, { once: true });
  try {
    const found =
      place.kind === 'files'
        ? await searchFolder(place.root, query, top, { clock, signal: stop.signal, timeMs })
        : await searchServer(place, query, top, stop.signal);
    return fitting(found, bytes);
  } finally {
    cancel();
    signal.removeEventListener('abort', onEnd);
  }
}

/** The last one that still fits in part is cut. */
function fitting(found: readonly SearchHit[], bytes: number): SearchHit[] {
  const hits: SearchHit[] = [];
  let left = bytes;
  for (const hit of found) {
    const source = cutText(sendableText(hit.source).replace(/\s+/g, ' '), SOURCE_BYTES);
    const text = cutText(sendableText(hit.text).trim(), left - Buffer.byteLength(source));
    if (text.trim() === '') break;
    hits.push({ source, text });
    left -= Buffer.byteLength(source) + Buffer.byteLength(text);
    if (left <= 0) break;
  }
  return hits;
}
