// Lines of cells as a table that a person can read: columns as wide as they need to be.
import { terminalText } from './terminal-text.js';

export function columns(lines: readonly (readonly string[])[]): string {
  const plain = lines.map((line) => line.map((cell) => terminalText(cell).replaceAll('\n', ' ')));
  const widths = (plain[0] ?? []).map((_, at) => Math.max(...plain.map((line) => line[at]?.length ?? 0)));
  return plain
    .map(
      (line) =>
        `${line
          .map((cell, at) => cell.padEnd(widths[at] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
