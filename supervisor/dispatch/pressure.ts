// How short disk and memory are. Pure: from what was measured, one of three levels and the words for it.

export type PressureLevel = 'ok' | 'warn' | 'shed';

export interface Measured {
  /** Free on the disk of the state directory; null where nobody knows. */
  readonly freeBytes: number | null;
  /** Of the own control group, and where the kernel begins to slow it down; null where nothing is set. */
  readonly memoryBytes: number | null;
  readonly memoryHighBytes: number | null;
}

export interface Pressure {
  readonly level: PressureLevel;
  /** What runs short; empty when nothing does. */
  readonly why: string;
}

/** Part of `memory.high` from which on nothing new starts. */
const MEMORY_SHARE = 0.95;

/** `minFreeBytes` 0 looks at no disk. */
export function pressureOf(
  { freeBytes, memoryBytes, memoryHighBytes }: Measured,
  minFreeBytes: number,
): Pressure {
  const disk =
    freeBytes === null || minFreeBytes === 0
      ? null
      : { freeBytes, short: freeBytes < minFreeBytes, near: freeBytes < 2 * minFreeBytes };
  if (disk?.short) return { level: 'shed', why: `${disk.freeBytes} bytes are free where the state is kept` };
  if (memoryBytes !== null && memoryHighBytes !== null && memoryBytes >= MEMORY_SHARE * memoryHighBytes)
    return { level: 'shed', why: `${memoryBytes} of ${memoryHighBytes} bytes of memory are in use` };
  if (disk?.near) return { level: 'warn', why: `${disk.freeBytes} bytes are free where the state is kept` };
  return { level: 'ok', why: '' };
}
