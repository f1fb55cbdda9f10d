// The dialect of decision models: a state and named questions about it go out as one JSON body, one JSON body with an
// answer for each comes back. Nothing is streamed and nothing is written: an answer is a choice and how sure it is.
import { StringDecoder } from 'node:string_decoder';
import type { JsonObject } from '../../shared/json.js';
import type { Usage } from '../../shared/transcript/usage.js';
import type { AnswerReader, Dialect, Framing, Reading, Refusal, WrittenRequest } from './dialect.js';
import type { ModelAnswer, ModelRequest } from './provider.js';
import { refusalOf } from './refusals.js';
import { bodyText, isObject, payload, textOf, tokenCount, usageFrom } from './wire-text.js';

/** A body of answers is a few hundred bytes; one beyond this is broken or hostile. */
const BODY_MAX = 1024 * 1024;

/** The whole body is one event. */
const wholeBody: Framing = {
  contentType: 'application/json',
  open(onEvent, onBroken) {
    const decoder = new StringDecoder('utf8');
    let text = '';
    let broken = false;
    return {
      push: (bytes) => {
        if (broken) return;
        text += decoder.write(bytes);
        broken = text.length > BODY_MAX;
        if (broken) onBroken('too_large');
      },
      end: () => {
        if (!broken) onEvent(text + decoder.end());
      },
    };
  },
};

/** The last message of the person is the decision, as JSON: what is asked, without the model that answers. */
function write({ messages, settings }: ModelRequest): WrittenRequest {
  const asked = messages.findLast((message) => message.role === 'user');
  const { state = '', questions = {} } = payload(asked?.text ?? '') ?? {};
  return { text: bodyText({ model: settings.model, state, questions }), options: [] };
}

class DecisionReader implements AnswerReader {
  readonly streamed = false;
  failure: Refusal | null = null;
  #answers: JsonObject | null = null;
  #usage: Usage | null = null;
  #model = '';

  get complete(): boolean {
    return this.#answers !== null;
  }

  take(data: string): Reading {
    const body = payload(data);
    if (body === null || !isObject(body.answers)) {
      this.failure = refusalOf(200, body ?? data, '');
      return 'failed';
    }
    const used = isObject(body.usage) ? body.usage : {};
    this.#answers = body.answers;
    this.#model = textOf(body.model);
    this.#usage = usageFrom({
      input: tokenCount(used.input_tokens),
      output: tokenCount(used.output_tokens),
      cached: tokenCount(used.cached_tokens) ?? 0,
    });
    return 'done';
  }

  usage(): Usage | null {
    return this.#usage;
  }

  answer(fallbackModel: string): ModelAnswer {
    return {
      text: JSON.stringify(this.#answers ?? {}),
      calls: [],
      reasoning: [],
      stop: 'end',
      usage: this.#usage,
      model: this.#model === '' ? fallbackModel : this.#model,
    };
  }
}

export const decisionDialect: Dialect = {
  framing: wholeBody,
  headers: ({ credentials }) =>
    credentials.token === undefined ? {} : { authorization: `Bearer ${credentials.token}` },
  write,
  reader: () => new DecisionReader(),
};
