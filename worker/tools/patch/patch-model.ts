// A patch as data, whichever form it was written in.

export interface PatchLine {
  /** Kept as context, removed, or added. */
  readonly kind: ' ' | '-' | '+';
  /** Without its line end. */
  readonly text: string;
}

export interface Hunk {
  readonly lines: readonly PatchLine[];
  /** Line of the old file where it should begin, counted from 1; null when the patch does not say. */
  readonly line: number | null;
  /** Lines that stand before it, in order, at any distance. */
  readonly anchors: readonly string[];
  /** The patch says that the last line has no line end, before and after. */
  readonly oldEndsOpen: boolean;
  readonly newEndsOpen: boolean;
  /** Must be at the end of the file. */
  readonly atEnd: boolean;
}

export type FileChange =
  | {
      readonly kind: 'create';
      readonly path: string;
      readonly hunks: readonly Hunk[];
      readonly mode: number | null;
    }
  | { readonly kind: 'delete'; readonly path: string; readonly hunks: readonly Hunk[] }
  | {
      readonly kind: 'update';
      readonly path: string;
      readonly newPath: string;
      readonly hunks: readonly Hunk[];
      readonly mode: number | null;
    };

/** An empty line: a context line that lost its space, or space between parts. */
export const BARE_LINE: PatchLine = { kind: ' ', text: '' };

/** A body line of either form; null for what is none. */
export function parsePatchLine(line: string): PatchLine | null {
  if (line === '') return BARE_LINE;
  const kind = line[0];
  if (kind !== ' ' && kind !== '-' && kind !== '+') return null;
  return { kind, text: line.slice(1) };
}
