// What is known about our estimates of each model's tokens. Small changes are not written: an observation comes with
// each model call, and most say the same as those before.
import { type Calibration, learn, learnTooLong, UNCALIBRATED } from '../../shared/transcript/calibration.js';
import type { Db } from './database.js';
import { reading, writing } from './statement.js';
import type { Store } from './types.js';

type Stored = Calibration & { readonly too_long_at_ms: number | null };

const DAY_MS = 24 * 60 * 60 * 1000;
/** Servers are set up anew: after this long a request that was too long is tried again. */
const TOO_LONG_HOLDS_MS = 7 * DAY_MS;
/** A smaller step, in parts of the ratio, is not written once there are several observations. */
const STEP = 0.01;
const SETTLED_SAMPLES = 8;

export function calibrationsTable(db: Db): Store['calibrations'] {
  const byModel = reading<Stored>(
    db,
    'SELECT ratio, samples, too_long_tokens, too_long_at_ms FROM calibrations WHERE model = ?',
  );
  const put = writing(
    db,
    `INSERT INTO calibrations (model, ratio, samples, too_long_tokens, too_long_at_ms, updated_at_ms)
     VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (model) DO UPDATE SET ratio = excluded.ratio, samples = excluded.samples,
       too_long_tokens = excluded.too_long_tokens, too_long_at_ms = excluded.too_long_at_ms,
       updated_at_ms = excluded.updated_at_ms`,
  );
  const get = (model: string, nowMs: number): Calibration => {
    const row = byModel.get(model);
    if (row === undefined) return UNCALIBRATED;
    const { ratio, samples, too_long_tokens, too_long_at_ms } = row;
    const holds = too_long_at_ms !== null && Math.abs(nowMs - too_long_at_ms) < TOO_LONG_HOLDS_MS;
    return { ratio, samples, too_long_tokens: holds ? too_long_tokens : null };
  };
  return {
    get,
    observe: (model, estimateTokens, actualTokens, nowMs) => {
      const known = get(model, nowMs);
      const next = learn(known, estimateTokens, actualTokens);
      const small = Math.abs(next.ratio - known.ratio) < STEP * known.ratio;
      if (next === known) return;
      if (small && known.samples >= SETTLED_SAMPLES && next.too_long_tokens === known.too_long_tokens) return;
      const at = next.too_long_tokens === null ? null : (byModel.get(model)?.too_long_at_ms ?? nowMs);
      put(model, next.ratio, next.samples, next.too_long_tokens, at, nowMs);
    },
    tooLong: (model, tokens, nowMs) => {
      const { ratio, samples, too_long_tokens } = learnTooLong(get(model, nowMs), tokens);
      put(model, ratio, samples, too_long_tokens, nowMs, nowMs);
    },
  };
}
