// Tells a turn that something is kept for it. Keys only: values are read with a tool, when they are needed. What is
// kept changes at any time, so this stands behind the conversation and never in the part that providers cache.
import type { Message } from '../../shared/transcript/message.js';
import type { Store } from '../store/types.js';

const KEYS_MAX = 40;
const KEY_CHARS_MAX = 80;

/** None without the tools for it, or when nothing is kept at `nowMs`. Keys are data: quoted, shortened, in order. */
export function memoryHint(
  memory: Pick<Store['memory'], 'list'>,
  tools: readonly string[],
  nowMs: number,
): Message[] {
  if (!tools.includes('memory.get')) return [];
  const { keys, truncated } = memory.list('', KEYS_MAX, nowMs);
  if (keys.length === 0) return [];
  const named = keys.map((key) => JSON.stringify(shortKey(key))).join(', ');
  const more = truncated ? ', and more (memory.list names them all)' : '';
  return [
    {
      role: 'note',
      text: `## Memory\n\nKept from earlier, to be read with memory.get when it matters: ${named}${more}.`,
    },
  ];
}

/** A key that is too long to be shown is found by its beginning. */
function shortKey(key: string): string {
  const chars = [...key];
  return chars.length <= KEY_CHARS_MAX ? key : `${chars.slice(0, KEY_CHARS_MAX).join('')}…`;
}
