// The checksum of binary event streams (CRC-32 as gzip has it). Written out, because older hosts offer none.

let table: Uint32Array | undefined;

function madeTable(): Uint32Array {
  return Uint32Array.from({ length: 256 }, (_, byte) => {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = (value >>> 1) ^ ((value & 1) === 0 ? 0 : 0xed_b8_83_20);
    return value >>> 0;
  });
}

/** An unsigned 32-bit number. */
export function crc32(bytes: Uint8Array): number {
  table ??= madeTable();
  let value = 0xff_ff_ff_ff;
  for (const byte of bytes) value = (value >>> 8) ^ (table[(value ^ byte) & 0xff] ?? 0);
  return (value ^ 0xff_ff_ff_ff) >>> 0;
}
