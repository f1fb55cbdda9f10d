// Progress of a job on a terminal: one line that is rewritten, and gone when the answer comes. Silent when piped.
import type { Clock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import type { LiveEvent } from '../tools/running-turn.js';
import type { Io } from './io.js';

const TICK_MS = 1_000;

export interface ProgressLine {
  onLive(event: LiveEvent): void;
  /** Takes the line away while somebody is asked something on the same terminal; the next update brings it back. */
  during<Answer>(question: () => Promise<Answer>): Promise<Answer>;
  /** Takes the line away and stops. */
  stop(): void;
}

export function progressLine(stderr: Io['stderr'], clock: Clock): ProgressLine {
  if (stderr.isTTY !== true)
    return { onLive: () => undefined, during: (question) => question(), stop: () => undefined };
  const startedMs = clock.monotonic();
  let doing = 'starting';
  let round = 0;
  let tokens = 0;
  let stopped = false;
  let questions = 0;
  let cancelTick: () => void = () => undefined;

  const paint = (): void => {
    if (stopped || questions > 0) return;
    const seconds = Math.round((clock.monotonic() - startedMs) / 1_000);
    const parts = [
      doing,
      ...(round > 0 ? [`round ${round}`] : []),
      ...(tokens > 0 ? [`${short(tokens)} tokens`] : []),
      `${seconds}s`,
    ];
    // A terminal that does not know its width says 0.
    const width = Math.max(20, (stderr.columns || 80) - 1);
    stderr.write(`\r\u001b[2K${printable(parts.join(' · ')).slice(0, width)}`);
  };
  const tick = (): void => {
    paint();
    cancelTick = clock.after(TICK_MS, tick);
  };
  tick();

  return {
    onLive: (event) => {
      if (event.type === 'budget_wait') {
        doing = `waiting for budget${event.until_ms === null ? '' : ` until ${time(event.until_ms)}`}`;
      } else if (event.type === 'compaction') {
        doing = event.phase === 'started' ? 'summarising the conversation' : 'thinking';
      } else if (event.type === 'progress') {
        const { progress } = event;
        if (progress.event === 'round') {
          round = progress.round;
          doing = 'thinking';
        } else if (progress.event === 'retry_scheduled') {
          doing = `model: ${progress.reason}, trying again in ${Math.ceil(progress.delay_ms / 1_000)}s`;
        } else return;
      } else if (event.event.kind === 'usage') {
        tokens += event.event.usage.input_tokens + event.event.usage.output_tokens;
      } else if (event.event.kind === 'tool_intent') {
        doing = `${event.event.tool} ${subject(event.event.arguments)}`.trim();
      } else return;
      paint();
    },
    during: async (question) => {
      stderr.write('\r\u001b[2K');
      questions += 1;
      try {
        return await question();
      } finally {
        questions -= 1;
        paint();
      }
    },
    stop: () => {
      if (stopped) return;
      stopped = true;
      cancelTick();
      stderr.write('\r\u001b[2K');
    },
  };
}

function subject(args: JsonObject): string {
  for (const name of ['command', 'path', 'pattern', 'url', 'key', 'name']) {
    const value = args[name];
    if (typeof value === 'string') return value.split('\n')[0] ?? '';
  }
  return '';
}

/** Text of a model or a file never drives the terminal. */
function printable(text: string): string {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069]/g, '?');
}

/** Wall time in UTC, to the second. */
function time(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d+Z$/, 'Z');
}

function short(count: number): string {
  return count < 1_000 ? String(count) : `${(count / 1_000).toFixed(1)}k`;
}
