// JSON lines on stderr. The logging library is loaded at the first line that is really written, because a job that has
// nothing to say must not pay for it.
import type { Logger as PinoLogger } from 'pino';
import type { JsonValue } from '../../shared/json.js';
import type { Masker } from '../../shared/mask.js';
import type { LogEvent, LogLevel } from './log-events.js';

export interface Logger {
  log(level: LogLevel, event: LogEvent, fields?: Record<string, unknown>): void;
  /** From here on known secret values are masked in what is written. */
  mask(masker: Masker): void;
  /** Resolves when every line so far is written. */
  flushed(): Promise<void>;
}

const ORDER = ['silent', 'error', 'warn', 'info', 'debug'] as const;

export function makeLogger(threshold: (typeof ORDER)[number]): Logger {
  let pino: PinoLogger | null = null;
  let masker: Masker | null = null;
  let drained: Promise<void> = Promise.resolve();
  const lines: { level: LogLevel; line: JsonValue }[] = [];
  const drain = (): void => {
    drained = (async () => {
      pino ??= await openPino();
      for (let next = lines.shift(); next !== undefined; next = lines.shift()) pino[next.level](next.line);
    })();
  };
  return {
    mask: (given) => {
      masker = given;
    },
    log: (level, event, fields = {}) => {
      if (ORDER.indexOf(level) > ORDER.indexOf(threshold)) return;
      const plain = JSON.parse(JSON.stringify({ event, ...fields })) as JsonValue;
      lines.push({ level, line: masker === null ? plain : masker.kept(plain) });
      if (lines.length === 1) drain();
    },
    flushed: () => drained,
  };
}

async function openPino(): Promise<PinoLogger> {
  const { pino } = await import('pino');
  const direct = pino.destination({ dest: 2, sync: true });
  // On a terminal the line of progress may stand where the log line has to go.
  const overProgress = { write: (line: string) => void process.stderr.write(`\r\u001b[2K${line}`) };
  return pino(
    { base: { pid: process.pid }, level: 'debug', formatters: { level: (label) => ({ level: label }) } },
    process.stderr.isTTY ? overProgress : direct,
  );
}
