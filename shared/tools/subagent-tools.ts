// Tools for giving work away: a subagent is a conversation of its own with one task, fewer tools at most, and an end.
import * as v from 'valibot';
import { jsonObject } from '../json.js';
import type { ToolSpec } from './tool-spec.js';
import { durationMs } from './waiting-tools.js';

const TEXT_CHARS_MAX = 100_000;
const ROLE_CHARS_MAX = 20_000;
const TIMEOUT_MAX_S = 7 * 24 * 60 * 60;
const AWAITED_MAX = 32;
/** Of a result that its parent is shown; all of a longer one is an artifact. */
export const RESULT_BYTES = 8_000;

export const SUBAGENT = 'subagent.';
export const SUBAGENT_RUN = 'subagent.run';

const instruction = (meaning: string) =>
  v.pipe(v.string(), v.minLength(1), v.maxLength(TEXT_CHARS_MAX), v.description(meaning));

const handle = v.pipe(
  v.string(),
  v.minLength(1),
  v.maxLength(200),
  v.description('as subagent.run returned it'),
);

export const subagentRunParams = v.strictObject({
  instruction: instruction('the task, with all that is needed for it: it knows nothing of this conversation'),
  mode: v.optional(
    v.pipe(
      v.picklist(['sync', 'async', 'detached']),
      v.description(
        'sync (default) waits for the result; async returns a handle at once, and what still runs when this turn ends ' +
          'is ended with it; detached is async and may go on after this turn',
      ),
    ),
  ),
  role: v.optional(
    v.pipe(
      v.string(),
      v.minLength(1),
      v.maxLength(ROLE_CHARS_MAX),
      v.description('how it should work, for its system prompt'),
    ),
  ),
  tools: v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.minLength(1), v.maxLength(200))),
      v.maxLength(200),
      v.description('names of the tools it gets, of those of this turn; default: all of them'),
    ),
  ),
  limits: v.optional(
    v.pipe(
      v.strictObject({
        steps: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.description('model calls'))),
        tokens: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1))),
        deadline: v.optional(
          v.pipe(
            v.string(),
            v.maxLength(32),
            v.check((text) => (durationMs(text) ?? 0) > 0, 'expected a duration such as 90s, 10m or 2h'),
            v.description('90s, 10m, 2h'),
          ),
        ),
      }),
      v.description('never more than this turn has left, which is also the default'),
    ),
  ),
  model: v.optional(
    v.pipe(v.string(), v.minLength(1), v.maxLength(200), v.description('another model, by its name')),
  ),
  output_schema: v.optional(v.pipe(jsonObject, v.description('JSON Schema that its result must match'))),
});

export const subagentSendParams = v.strictObject({
  handle,
  message: instruction('it goes on from what it knows already'),
});

export const subagentAwaitParams = v.strictObject({
  handle: v.pipe(
    v.union([handle, v.pipe(v.array(handle), v.minLength(1), v.maxLength(AWAITED_MAX))]),
    v.description('one handle, or several'),
  ),
  mode: v.optional(
    v.pipe(v.picklist(['all', 'any']), v.description('wait for all of them (default) or for the first')),
  ),
  timeout_s: v.optional(
    v.pipe(
      v.number(),
      v.minValue(0),
      v.maxValue(TIMEOUT_MAX_S),
      v.description('how long to wait at most; default: until they end, which their limits see to'),
    ),
  ),
});

export const subagentHandleParams = v.strictObject({ handle });

const subagentListParams = v.strictObject({});

export const subagentKillParams = v.strictObject({
  handle,
  reason: v.optional(v.pipe(v.string(), v.maxLength(2_000))),
});

/** Each may have to do with turns of others, so all of them are handed in like tools that wait. */
const OWNED = { action: 'control', runs: 'supervisor', readOnly: false, waits: true } as const;

export const SUBAGENT_TOOLS: readonly ToolSpec[] = [
  {
    name: SUBAGENT_RUN,
    description:
      'Gives a task to a subagent: a conversation of its own with its own context, working in the same folder. Returns ' +
      'its handle, status and result; a long result is cut and is whole in artifact_id. Use it for work that stands on ' +
      'its own, and with mode async to have several at work at once.',
    params: subagentRunParams,
    ...OWNED,
  },
  {
    name: 'subagent.send',
    description:
      'Sends another message to a subagent of this conversation. It answers it after what it has to do already; get ' +
      'the answer with subagent.await.',
    params: subagentSendParams,
    ...OWNED,
  },
  {
    name: 'subagent.await',
    description:
      'Waits until subagents have nothing left to do, at no cost, and returns status and result of each. timed_out is ' +
      'true when the timeout came first; they go on.',
    params: subagentAwaitParams,
    ...OWNED,
    polls: true,
  },
  {
    name: 'subagent.status',
    description: 'Says how a subagent stands without waiting, with its result once it has one.',
    params: subagentHandleParams,
    ...OWNED,
    polls: true,
  },
  {
    name: 'subagent.list',
    description: 'Lists the subagents of this conversation, the newest first, and how each stands.',
    params: subagentListParams,
    ...OWNED,
    polls: true,
  },
  {
    name: 'subagent.kill',
    description:
      'Ends what a subagent is doing, and the subagents that it started. Returns when all of that is gone.',
    params: subagentKillParams,
    ...OWNED,
  },
];
