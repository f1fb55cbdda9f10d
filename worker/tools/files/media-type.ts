// What a file is that is no text, told by its first bytes; for pictures their dimensions too.

export interface Media {
  readonly mime: string;
  readonly width?: number;
  readonly height?: number;
}

/** Text or bytes at an offset → media type. The first that fits counts. */
const SIGNATURES: readonly (readonly [offset: number, bytes: string, mime: string])[] = [
  [0, '\x89PNG\r\n\x1a\n', 'image/png'],
  [0, '\xff\xd8\xff', 'image/jpeg'],
  [0, 'GIF8', 'image/gif'],
  [8, 'WEBP', 'image/webp'],
  [0, 'BM', 'image/bmp'],
  [0, '\x00\x00\x01\x00', 'image/x-icon'],
  [0, 'II*\x00', 'image/tiff'],
  [0, 'MM\x00*', 'image/tiff'],
  [4, 'ftypavif', 'image/avif'],
  [4, 'ftypheic', 'image/heic'],
  [4, 'ftyp', 'video/mp4'],
  [0, '%PDF-', 'application/pdf'],
  [0, 'PK\x03\x04', 'application/zip'],
  [0, 'PK\x05\x06', 'application/zip'],
  [0, '\x1f\x8b', 'application/gzip'],
  [0, 'BZh', 'application/x-bzip2'],
  [0, '\xfd7zXZ\x00', 'application/x-xz'],
  [0, '\x28\xb5\x2f\xfd', 'application/zstd'],
  [0, "7z\xbc\xaf'\x1c", 'application/x-7z-compressed'],
  [257, 'ustar', 'application/x-tar'],
  [0, '\x7fELF', 'application/x-executable'],
  [0, 'MZ', 'application/x-msdownload'],
  [0, '\x00asm', 'application/wasm'],
  [0, 'SQLite format 3\x00', 'application/vnd.sqlite3'],
  [0, '\xca\xfe\xba\xbe', 'application/java-vm'],
  [0, 'ID3', 'audio/mpeg'],
  [0, 'OggS', 'audio/ogg'],
  [0, 'fLaC', 'audio/flac'],
  [8, 'WAVE', 'audio/wav'],
  [0, '\x1aE\xdf\xa3', 'video/webm'],
  [0, 'wOFF', 'font/woff'],
  [0, 'wOF2', 'font/woff2'],
];

/** By its beginning, 4 KB or more of it where there is that much. */
export function mediaOf(head: Buffer): Media {
  const text = head.subarray(0, 512).toString('latin1');
  const found = SIGNATURES.find(([offset, bytes]) => text.startsWith(bytes, offset));
  const mime = found?.[2] ?? 'application/octet-stream';
  const size = SIZES[mime]?.(head);
  return size === undefined || size === null ? { mime } : { mime, width: size[0], height: size[1] };
}

type Size = readonly [width: number, height: number] | null;

const SIZES: Readonly<Record<string, (head: Buffer) => Size>> = {
  'image/png': (head) => (head.length >= 24 ? [head.readUInt32BE(16), head.readUInt32BE(20)] : null),
  'image/gif': (head) => (head.length >= 10 ? [head.readUInt16LE(6), head.readUInt16LE(8)] : null),
  'image/bmp': (head) => (head.length >= 26 ? [head.readInt32LE(18), Math.abs(head.readInt32LE(22))] : null),
  'image/webp': webpSize,
  'image/jpeg': jpegSize,
};

function webpSize(head: Buffer): Size {
  if (head.length < 30) return null;
  const kind = head.toString('latin1', 12, 16);
  if (kind === 'VP8X') return [head.readUIntLE(24, 3) + 1, head.readUIntLE(27, 3) + 1];
  if (kind === 'VP8 ') return [head.readUInt16LE(26) & 0x3fff, head.readUInt16LE(28) & 0x3fff];
  if (kind !== 'VP8L') return null;
  const bits = head.readUInt32LE(21);
  return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
}

/** Walks the segments up to the frame header, which may stand behind long metadata and then is not in `head`. */
function jpegSize(head: Buffer): Size {
  let at = 2;
  while (at + 9 < head.length && head[at] === 0xff) {
    const marker = head[at + 1] ?? 0;
    const isFrame = marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);
    if (isFrame) return [head.readUInt16BE(at + 7), head.readUInt16BE(at + 5)];
    at += 2 + head.readUInt16BE(at + 2);
  }
  return null;
}
