// What a job prints: the answer alone, one JSON document, or a line per event. Diagnostics go to stderr.
import type { Clock } from '../../shared/clock.js';
import type { PermissionMode } from '../../shared/policy/permission-mode.js';
import type { JobResult } from '../../shared/protocol/job-result.js';
import type { TurnAddress } from '../../shared/protocol/step-notification.js';
import type { LiveEvent } from '../tools/running-turn.js';
import type { People } from './ask-terminal.js';
import { type Io, writeAll } from './io.js';
import { progressLine } from './progress-line.js';
import type { notificationLines } from './stream-json.js';

export interface JobOutput {
  started(address: TurnAddress, mode: PermissionMode): void;
  onLive(event: LiveEvent): void;
  /** The same, with nothing written over the question. */
  asking(people: People): People;
  /** Writes the result and waits until it is out. */
  finish(report: JobResult): Promise<void>;
}

/** `story` is there for stream-json alone: its definitions take longer to load than the rest of a job. */
export function jobOutput(
  format: 'text' | 'json' | 'stream-json',
  story: typeof notificationLines | null,
  io: Io,
  clock: Clock,
): JobOutput {
  const progress = progressLine(io.stderr, clock);
  let early: LiveEvent[] | null = [];
  let lines: ((event: LiveEvent) => void) | null = null;
  const line = (text: string): void => void io.stdout.write(`${text}\n`);
  return {
    started: (address, mode) => {
      if (story !== null) {
        lines = story(address, mode, clock, line);
        for (const event of early ?? []) lines(event);
      }
      early = null;
    },
    onLive: (event) => {
      progress.onLive(event);
      if (lines !== null) lines(event);
      else early?.push(event);
    },
    asking: ({ ask, audience }) => ({
      ask: (question) => progress.during(() => ask(question)),
      audience:
        typeof audience === 'string'
          ? audience
          : (question, signal) => progress.during(() => audience(question, signal)),
    }),
    finish: async (report) => {
      progress.stop();
      const text = format === 'text' ? report.reply : JSON.stringify(report);
      if (text !== '') await writeAll(io.stdout, text.endsWith('\n') ? text : `${text}\n`);
      if (report.error !== undefined)
        await writeAll(io.stderr, `turnd: ${report.status}: ${report.error.message}\n`);
      await writeAll(io.stderr, `turnd: turn ${report.turn_id}, state in ${report.state_dir}\n`);
    },
  };
}
