// A job that ends before its turn began still prints the one document that its caller parses: a script that asked for
// JSON must not meet an empty stdout. The sentence for people goes to stderr as ever.
import type { Failure } from '../../shared/errors.js';
import type { JobResult } from '../../shared/protocol/job-result.js';
import { type Io, writeAll } from './io.js';

/** Writes the result of a job without a turn when `format` is one of the JSON formats; else nothing. */
export async function tellEarlyFailure(io: Io, format: string | undefined, failure: Failure): Promise<void> {
  if (format !== 'json' && format !== 'stream-json') return;
  const result: JobResult = {
    status: 'failed',
    reply: '',
    error: { code: failure.code, message: failure.message },
    usage: { input_tokens: 0, output_tokens: 0, cached_tokens: 0 },
    rounds: 0,
    tool_calls: 0,
    refused_calls: [],
    duration_ms: 0,
  };
  await writeAll(io.stdout, `${JSON.stringify(result)}\n`);
}

/** The `--output` of a command line that could not be parsed as a whole. */
export function wantedFormat(argv: readonly string[]): string | undefined {
  const at = argv.findIndex((arg) => arg === '--output' || arg.startsWith('--output='));
  const arg = argv[at];
  return arg?.startsWith('--output=') ? arg.slice('--output='.length) : arg && argv[at + 1];
}
