// Tells the forms of a patch apart and takes off what models like to put around one.
import { ToolFailure } from '../files/tool-failure.js';
import { parseMarkedPatch } from './marked-patch.js';
import type { FileChange } from './patch-model.js';
import { parseUnifiedDiff } from './unified-diff.js';

/** Throws a ToolFailure for text that is no patch. Never returns an empty list. */
export function parsePatch(text: string): readonly FileChange[] {
  const lines = bodyOf(text);
  const marked = lines.findIndex((line) => line.trimEnd() === '*** Begin Patch');
  const changes = marked === -1 ? parseUnifiedDiff(lines) : parseMarkedPatch(lines, marked + 1);
  if (changes.length === 0)
    throw new ToolFailure(
      'There is no change in this patch. Give a unified diff with --- and +++ lines, or the *** Begin Patch form.',
    );
  return changes;
}

/** Lines without fences or a here-document around them, and without the line ends of a patch that is CRLF throughout. */
function bodyOf(text: string): readonly string[] {
  const lines = text.replace(/^\ufeff/, '').split('\n');
  if (lines.at(-1) === '') lines.pop();
  const allCrlf = lines.every((line) => line.endsWith('\r'));
  const plain = allCrlf ? lines.map((line) => line.slice(0, -1)) : lines;
  const first = plain.findIndex((line) => line.trim() !== '');
  const opening = plain[first] ?? '';
  if (/^```/.test(opening)) {
    const end = plain.findLastIndex((line) => line.trim() === '```');
    return plain.slice(first + 1, end > first ? end : undefined);
  }
  const hereDocument = /<<-?\s*['"]?(\w+)['"]?\s*$/.exec(opening);
  if (hereDocument === null) return plain;
  const end = plain.findLastIndex((line) => line.trim() === hereDocument[1]);
  return plain.slice(first + 1, end > first ? end : undefined);
}
