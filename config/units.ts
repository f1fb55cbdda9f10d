// Durations and sizes as people write them ("10m", "64KB"), to and from milliseconds and bytes. Pure.
// KB, MB and GB count in 1024s, as KiB, MiB and GiB do: these are limits of memory and files, not of disks for sale.

const MS_PER = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const BYTES_PER = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 } as const;

/** "500ms", "10m", "1h30m", "1.5s"; a bare number counts seconds. */
export const DURATION_PATTERN = /^(?:\d+(?:\.\d+)?|(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+)$/;

/** "64KB", "1.5GiB", "512 B"; a bare number counts bytes. */
export const SIZE_PATTERN = /^\d+(?:\.\d+)? ?(?:B|[KMG]i?B?)?$/;

/** Milliseconds of a duration; NaN when it is none. */
export function parseDuration(value: string | number): number {
  if (typeof value === 'number') return value * 1000;
  if (!DURATION_PATTERN.test(value)) return Number.NaN;
  if (/^[\d.]+$/.test(value)) return Number(value) * 1000;
  let total = 0;
  for (const [, amount, unit] of value.matchAll(/([\d.]+)([a-z]+)/g)) {
    total += Number(amount) * MS_PER[unit as keyof typeof MS_PER];
  }
  return Math.round(total);
}

/** Bytes of a size; NaN when it is none. */
export function parseSize(value: string | number): number {
  if (typeof value === 'number') return value;
  if (!SIZE_PATTERN.test(value)) return Number.NaN;
  const amount = Number.parseFloat(value);
  const letter = /[KMG]/.exec(value)?.[0] ?? '';
  const unit = letter === '' ? 'B' : (`${letter}B` as keyof typeof BYTES_PER);
  return Math.round(amount * BYTES_PER[unit]);
}

/** The shortest spelling that parses back to the same number: 90000 is "90s", 3600000 is "1h". */
export function formatDuration(ms: number): string {
  return spell(ms, MS_PER, 'ms');
}

export function formatSize(bytes: number): string {
  return spell(bytes, BYTES_PER, 'B');
}

function spell(amount: number, units: Readonly<Record<string, number>>, smallest: string): string {
  let best = `${amount}${smallest}`;
  for (const [unit, factor] of Object.entries(units)) {
    if (amount !== 0 && amount % factor === 0) best = `${amount / factor}${unit}`;
  }
  return best;
}
