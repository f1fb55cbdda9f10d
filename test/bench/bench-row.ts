// One line of the bench: what was measured, against what in the same run, and the bound it should keep.

export interface BenchRow {
  /** A sentence or less; words of it select rows on the command line. */
  readonly name: string;
  /** Unit of value, baseline, p50 and p99. */
  readonly unit: string;
  readonly value: number;
  /** The same work done barely, in the same run. */
  readonly baseline?: number;
  /** value / baseline. */
  readonly ratio?: number;
  readonly p50?: number;
  readonly p99?: number;
  /** What should hold, in words: `<= 4x`, `>= 50000`. */
  readonly bound?: string;
  readonly ok?: boolean;
}
