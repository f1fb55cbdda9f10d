// A file's units as lines that keep their own ends. Pure.

export interface FileLine {
  readonly text: string;
  /** Empty only for a last line without one. */
  readonly end: string;
}

export function splitLines(units: string): FileLine[] {
  const lines: FileLine[] = [];
  for (let from = 0; from < units.length; ) {
    const at = units.indexOf('\n', from);
    if (at === -1) {
      lines.push({ text: units.slice(from), end: '' });
      break;
    }
    const isCrlf = at > from && units[at - 1] === '\r';
    lines.push({ text: units.slice(from, isCrlf ? at - 1 : at), end: isCrlf ? '\r\n' : '\n' });
    from = at + 1;
  }
  return lines;
}

export function joinLines(lines: readonly FileLine[]): string {
  return lines.map((line) => line.text + line.end).join('');
}
