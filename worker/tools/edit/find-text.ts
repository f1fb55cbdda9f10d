// Finds a text in a file's units. Line ends in the text are those of the file: \n also finds \r\n, so that what read_file
// shows can be found. Pure.

export interface Span {
  readonly from: number;
  readonly to: number;
}

export interface Found {
  readonly spans: readonly Span[];
  /** The text was found with other line ends than it was given with. */
  readonly byMeaning: boolean;
}

/** Every place, those that overlap an earlier one included. `text` is not empty. At most `most` are looked for. */
export function findText(units: string, text: string, most: number): Found {
  if (text.includes('\r')) {
    const exact = placesOf(units, text, most);
    if (exact.length > 0)
      return { spans: exact.map((from) => ({ from, to: from + text.length })), byMeaning: false };
  }
  const wanted = text.replaceAll('\r\n', '\n');
  if (!units.includes('\r\n')) {
    const spans = placesOf(units, wanted, most).map((from) => ({ from, to: from + wanted.length }));
    return { spans, byMeaning: wanted !== text };
  }
  const plain = units.replaceAll('\r\n', '\n');
  const shifted = shiftsOf(units);
  const spans = placesOf(plain, wanted, most).map((from) => ({
    from: from + shifted(from),
    to: from + wanted.length + shifted(from + wanted.length),
  }));
  return { spans, byMeaning: true };
}

/** The spans without those that overlap one before them. */
export function apart(spans: readonly Span[]): Span[] {
  const kept: Span[] = [];
  for (const span of spans) if (span.from >= (kept.at(-1)?.to ?? 0)) kept.push(span);
  return kept;
}

/** Line of a position, counted from 1. */
export function lineAt(units: string, position: number): number {
  let line = 1;
  for (let at = units.indexOf('\n'); at !== -1 && at < position; at = units.indexOf('\n', at + 1)) line += 1;
  return line;
}

function placesOf(units: string, text: string, most: number): number[] {
  const places: number[] = [];
  for (let at = units.indexOf(text); at !== -1 && places.length < most; at = units.indexOf(text, at + 1))
    places.push(at);
  return places;
}

/** How far a position in the text with plain line ends moves in the real one: the \r\n before it. */
function shiftsOf(units: string): (position: number) => number {
  const ends: number[] = [];
  for (let at = units.indexOf('\r\n'); at !== -1; at = units.indexOf('\r\n', at + 2))
    ends.push(at - ends.length);
  return (position) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((ends[middle] ?? 0) < position) low = middle + 1;
      else high = middle;
    }
    return low;
  };
}
