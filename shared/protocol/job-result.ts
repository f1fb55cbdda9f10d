// The document of `turnd --prompt … --output json`, and the last line of `--output stream-json`. Public: scripts parse it.
import * as v from 'valibot';
import { turnStatus } from '../outcome.js';

const count = v.pipe(v.number(), v.integer(), v.minValue(0));

const jobUsage = v.strictObject({
  input_tokens: v.pipe(count, v.description('All input tokens, cached ones included.')),
  output_tokens: count,
  cached_tokens: v.pipe(
    count,
    v.description('The part of the input that came from the cache of the provider.'),
  ),
  cost: v.optional(
    v.pipe(v.number(), v.minValue(0), v.description('In US dollars; absent where no price is known.')),
  ),
});

const refusedCall = v.strictObject({
  call_id: v.pipe(v.string(), v.description('The call, as `turnd items` names it.')),
  tool: v.string(),
  reason: v.pipe(v.string(), v.description('Why it was not allowed, in words for a person.')),
});

export const jobResult = v.pipe(
  v.strictObject({
    status: v.pipe(turnStatus, v.description('How the turn ended. The exit code follows from it.')),
    reply: v.pipe(v.string(), v.description('Text of the answer; empty when there is none.')),
    error: v.optional(
      v.pipe(
        v.strictObject({
          code: v.pipe(v.string(), v.description('Stable name of the failure.')),
          message: v.string(),
        }),
        v.description('Present unless the turn completed.'),
      ),
    ),
    usage: jobUsage,
    rounds: v.pipe(count, v.description('Model calls made.')),
    tool_calls: v.pipe(count, v.description('Tool calls that were asked for.')),
    refused_calls: v.pipe(v.array(refusedCall), v.description('Calls that permissions refused, in order.')),
    turn_id: v.optional(
      v.pipe(v.string(), v.description('Absent when the job ended before its turn began.')),
    ),
    thread_id: v.optional(v.pipe(v.string(), v.description('Absent as `turn_id` is.'))),
    state_dir: v.optional(
      v.pipe(
        v.string(),
        v.description('Absolute path of the state directory of the job. Absent as `turn_id` is.'),
      ),
    ),
    duration_ms: v.pipe(v.number(), v.minValue(0), v.description('Wall time of the job in milliseconds.')),
  }),
  v.description('Result of one job.'),
);
export type JobResult = v.InferOutput<typeof jobResult>;
