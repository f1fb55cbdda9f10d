// Says whether MessagePack bytes hold nothing but JSON: no extensions, no binary, no 64-bit integers, string keys only.
// The decoder would turn the rest into Dates, Sets, Errors and typed arrays, which no schema of the wire expects. Both
// sides scan, so what one of them can send is exactly what the other takes. Strings are skipped, so it costs little.

/** Deepest nesting of arrays and objects in a frame. */
export const DEPTH_MAX = 256;

const WIDTHS: { readonly [head: number]: number } = {
  192: 1, // nil
  194: 1, // false
  195: 1, // true
  202: 5, // float 32
  203: 9, // float 64
  204: 2, // unsigned 8, 16, 32
  205: 3,
  206: 5,
  208: 2, // signed 8, 16, 32
  209: 3,
  210: 5,
  220: 3, // arrays, then maps: the head only
  221: 5,
  222: 3,
  223: 5,
};

/** Bytes up to the end of the token at `at`; 0 when it is not plain. Reads past the end give zeros: the caller checks it. */
function tokenWidth(bytes: Uint8Array, at: number): number {
  const head = bytes[at] ?? 0;
  if (head < 0xa0 || head >= 0xe0) return 1;
  if (head < 0xc0) return 1 + (head & 31);
  switch (head) {
    case 0xd9:
      return 2 + bigEndian(bytes, at + 1, 1);
    case 0xda:
      return 3 + bigEndian(bytes, at + 1, 2);
    case 0xdb:
      return 5 + bigEndian(bytes, at + 1, 4);
    case 0xd4:
      // A field that was set to undefined: the one extension that is let through.
      return bytes[at + 1] === 0 ? 3 : 0;
    default:
      return WIDTHS[head] ?? 0;
  }
}

/** How many values the token at `at` holds; a map's keys count too. */
function itemsOf(bytes: Uint8Array, at: number): number {
  const head = bytes[at] ?? 0;
  if (head >= 0x80 && head < 0x90) return (head & 15) * 2;
  if (head >= 0x90 && head < 0xa0) return head & 15;
  if (head === 0xdc) return bigEndian(bytes, at + 1, 2);
  if (head === 0xdd) return bigEndian(bytes, at + 1, 4);
  if (head === 0xde) return bigEndian(bytes, at + 1, 2) * 2;
  return bigEndian(bytes, at + 1, 4) * 2;
}

function isNest(head: number): boolean {
  return (head >= 0x80 && head < 0xa0) || (head >= 0xdc && head <= 0xdf);
}

function isMapHead(head: number): boolean {
  return (head & 0xf0) === 0x80 || head === 0xde || head === 0xdf;
}

function isText(head: number): boolean {
  return (head >= 0xa0 && head < 0xc0) || (head >= 0xd9 && head <= 0xdb);
}

function bigEndian(bytes: Uint8Array, at: number, width: number): number {
  let value = 0;
  for (let index = at; index < at + width; index += 1) value = value * 256 + (bytes[index] ?? 0);
  return value;
}

/** Null when `bytes` from `start` on are exactly one plain value; else what is wrong. Needs no recursion and no copies. */
export function scanPlain(bytes: Uint8Array, start: number): string | null {
  const left: number[] = [1];
  const isMap: boolean[] = [false];
  let depth = 0;
  let at = start;
  while (depth >= 0) {
    const items = left[depth] ?? 0;
    if (items === 0) {
      depth -= 1;
      continue;
    }
    if (at >= bytes.length) return 'it ends in the middle of a value';
    const head = bytes[at] ?? 0;
    if (isMap[depth] && items % 2 === 0 && !isText(head)) return 'it holds a key that is not a string';
    const width = tokenWidth(bytes, at);
    if (width === 0) return 'it holds something that is not JSON';
    left[depth] = items - 1;
    if (isNest(head)) {
      depth += 1;
      if (depth > DEPTH_MAX) return `it is nested deeper than ${DEPTH_MAX} levels`;
      left[depth] = itemsOf(bytes, at);
      isMap[depth] = isMapHead(head);
    }
    at += width;
  }
  return at === bytes.length ? null : 'its length does not match its content';
}
