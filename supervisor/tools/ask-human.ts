// `ask_human`: a question to a person. A daemon keeps it until somebody answers it or its time is over; a job asks at
// its terminal, or says at once that nobody is there.
import type * as v from 'valibot';
import type { Clock } from '../../shared/clock.js';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import { ASK_DEFAULT_S, type askHumanParams } from '../../shared/tools/waiting-tools.js';
import type { WaitingTool } from './waiting-tool.js';
import { wakeAt } from './wake-at.js';

export interface PersonQuestion {
  readonly question: string;
  readonly options: readonly string[];
}

/**
 * Who answers. `nobody`: there is no person, and none will come. `later`: somebody may answer at any time. Else the one
 * who is asked right now; null when there is no answer to be had.
 */
export type Audience =
  | 'nobody'
  | 'later'
  | ((question: PersonQuestion, signal: AbortSignal) => Promise<string | null>);

export const ASK_HUMAN = 'ask_human';

const NOBODY = 'nobody is there to answer questions; decide yourself, or say what you would need to know';

export function askHumanTool(clock: Clock, audience: Audience): WaitingTool {
  return {
    begin: (args, { nowMs }) => {
      if (audience === 'nobody') return { refused: NOBODY };
      const { question, options = [], timeout_s: timeoutS } = args as v.InferOutput<typeof askHumanParams>;
      return { subject: { question, options }, wakeAtMs: nowMs + (timeoutS ?? ASK_DEFAULT_S) * 1_000 };
    },
    arm: (wait, answer) => {
      const stop = new AbortController();
      const give = (result: ToolResult): void => {
        if (stop.signal.aborted) return;
        stopAll();
        answer(result);
      };
      const cancel = wakeAt(clock, wait.wake_at_ms ?? 0, () => give(NO_ANSWER));
      const stopAll = (): void => {
        cancel();
        stop.abort();
      };
      if (typeof audience === 'function')
        void audience(questionOf(wait.subject), stop.signal).then(
          (reply) => give(reply === null ? NO_ANSWER : answerOf(reply)),
          () => give(NO_ANSWER),
        );
      return stopAll;
    },
  };
}

const NO_ANSWER: ToolResult = { content: { reply: null, timed_out: true }, is_error: false };

/** What the model gets of an answer. */
export function answerOf(reply: JsonValue): ToolResult {
  return { content: { reply, timed_out: false }, is_error: false };
}

function questionOf({ question, options }: JsonObject): PersonQuestion {
  return {
    question: typeof question === 'string' ? question : '',
    options: Array.isArray(options) ? options.filter((option) => typeof option === 'string') : [],
  };
}
