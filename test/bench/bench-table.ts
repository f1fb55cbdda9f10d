// Bench rows as one aligned table; a missed bound stands out.
import type { BenchRow } from './bench-row.js';

const HEAD = ['what', 'value', 'unit', 'baseline', 'ratio', 'p50', 'p99', 'bound', ''];
const TEXT_COLUMNS = new Set([0, 2, 7, 8]);

export function benchTable(rows: readonly BenchRow[]): string {
  const cells = rows.map((row) => [
    row.name,
    number(row.value),
    row.unit,
    number(row.baseline),
    row.ratio === undefined ? '' : `${row.ratio.toFixed(2)}x`,
    number(row.p50),
    number(row.p99),
    row.bound === undefined ? '' : String(row.bound),
    row.ok === undefined ? '' : row.ok ? 'ok' : '<-- MISSED',
  ]);
  const widths = HEAD.map((title, column) =>
    Math.max(title.length, ...cells.map((line) => line[column]?.length ?? 0)),
  );
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, column) => {
        const width = widths[column] ?? 0;
        return TEXT_COLUMNS.has(column) ? text.padEnd(width) : text.padStart(width);
      })
      .join('  ')
      .trimEnd();
  return [line(HEAD), line(widths.map((width) => '-'.repeat(width))), ...cells.map(line)].join('\n');
}

/** Three figures that count; whole numbers in groups of three. */
function number(value: number | undefined): string {
  if (value === undefined) return '';
  if (Math.abs(value) >= 100) return String(Math.round(value)).replace(/\B(?=(?:\d{3})+$)/g, ',');
  return Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2);
}
