// Line ends of new text: those of the place where it goes. Pure.

export type LineEnd = '\n' | '\r\n';

/** The line end that is most common in `units`; null where there is none. */
export function commonLineEnd(units: string): LineEnd | null {
  let crlf = 0;
  let lf = 0;
  for (let at = units.indexOf('\n'); at !== -1; at = units.indexOf('\n', at + 1)) {
    if (units[at - 1] === '\r') crlf += 1;
    else lf += 1;
  }
  if (crlf + lf === 0) return null;
  return crlf >= lf ? '\r\n' : '\n';
}

/** Text with `end` at each line end. */
export function withLineEnds(text: string, end: LineEnd): string {
  const plain = text.replaceAll('\r\n', '\n');
  return end === '\n' ? plain : plain.replaceAll('\n', '\r\n');
}
