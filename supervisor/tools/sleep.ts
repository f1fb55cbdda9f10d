// `sleep`: nothing is waited for but time. One that a restart interrupted goes on until the same time.
import type * as v from 'valibot';
import type { Clock } from '../../shared/clock.js';
import { durationMs, type sleepParams } from '../../shared/tools/waiting-tools.js';
import type { WaitingTool } from './waiting-tool.js';
import { wakeAt } from './wake-at.js';

export function sleepTool(clock: Clock): WaitingTool {
  return {
    begin: (args, { nowMs }) => {
      const { seconds, duration } = args as v.InferOutput<typeof sleepParams>;
      const sleepMs = duration === undefined ? (seconds ?? 0) * 1_000 : (durationMs(duration) ?? 0);
      return { subject: { sleep_ms: sleepMs }, wakeAtMs: nowMs + sleepMs };
    },
    arm: ({ wake_at_ms: wakeAtMs, created_at_ms: sinceMs }, answer) =>
      wakeAt(clock, wakeAtMs ?? sinceMs, () => {
        const now = clock.now();
        const content = { slept_ms: Math.max(0, now - sinceMs), now: new Date(now).toISOString() };
        answer({ content, is_error: false });
      }),
  };
}
