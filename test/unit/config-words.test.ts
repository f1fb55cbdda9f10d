// How people write durations, sizes and the names of keys.
import t from 'tap';
import { nearest } from '../../config/nearest.js';
import { formatDuration, formatSize, parseDuration, parseSize } from '../../config/units.js';

t.test('durations and sizes are read as people write them, and written so that they read back', (t) => {
  const durations = {
    '500ms': 500,
    '90s': 90_000,
    '1h30m': 5_400_000,
    '1.5s': 1500,
    '30': 30_000,
    '2d': 172_800_000,
  };
  for (const [text, ms] of Object.entries(durations)) t.equal(parseDuration(text), ms, text);
  t.equal(parseDuration(2), 2000);
  for (const text of ['', '-1s', '1y', '1 s', 's', '1h30', 'NaN'])
    t.ok(Number.isNaN(parseDuration(text)), text);
  const sizes = {
    '64KB': 65_536,
    '64KiB': 65_536,
    '1.5GiB': 1_610_612_736,
    '512': 512,
    '512 B': 512,
    '10M': 10_485_760,
  };
  for (const [text, bytes] of Object.entries(sizes)) t.equal(parseSize(text), bytes, text);
  for (const text of ['', '-1', 'KB', '1TBB', '1e9']) t.ok(Number.isNaN(parseSize(text)), text);
  for (const amount of [0, 1, 999, 1000, 1024, 5_400_000, 7_200_000, 10_485_760, 64 * 1024 ** 3]) {
    t.equal(parseDuration(formatDuration(amount)), amount);
    t.equal(parseSize(formatSize(amount)), amount);
  }
  t.end();
});

t.test('the nearest name is one that fingers slip to, or none', (t) => {
  const known = ['steps', 'tokens', 'deadline'];
  t.equal(nearest('setps', known), 'steps');
  t.equal(nearest('Deadlin', known), 'deadline');
  t.equal(nearest('colour', known), undefined);
  t.equal(nearest('x'.repeat(100_000), known), undefined);
  t.end();
});
