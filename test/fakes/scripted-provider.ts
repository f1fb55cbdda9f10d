// A model provider that plays a script in process. It notes every request, and complains about histories that a real
// provider would refuse.
import type { JsonObject } from '../../shared/json.js';
import type {
  ModelAnswer,
  ModelEvent,
  ModelOutcome,
  ModelProvider,
  ModelRequest,
  RawCall,
} from '../../worker/models/provider.js';
import { brokenHistory } from './history-rules.js';

/** One model call: the outcome, or what to do. */
export type ModelStep =
  | ModelOutcome
  | ((
      request: ModelRequest,
      tell: (event: ModelEvent) => void,
      signal: AbortSignal,
    ) => ModelOutcome | Promise<ModelOutcome>);

export class ScriptedProvider implements ModelProvider {
  readonly requests: ModelRequest[] = [];
  /** What a real provider would have refused, and calls beyond the script. */
  readonly problems: string[] = [];
  readonly #steps: ModelStep[];

  constructor(steps: readonly ModelStep[]) {
    this.#steps = [...steps];
  }

  /** Steps that were never played. */
  get unused(): number {
    return this.#steps.length;
  }

  async call(
    request: ModelRequest,
    onEvent: (event: ModelEvent) => void,
    signal: AbortSignal,
  ): Promise<ModelOutcome> {
    this.requests.push(request);
    this.problems.push(...brokenHistory(request.messages));
    if (request.messages.at(-1)?.role === 'assistant')
      this.problems.push('the last message is the model’s own');
    if (signal.aborted) return { kind: 'aborted' };
    const step = this.#steps.shift();
    if (step === undefined) {
      this.problems.push('a model call beyond the script');
      return { kind: 'failed', code: 'model_rejected', message: 'the script is over', charged: null };
    }
    if (typeof step === 'function') return step(request, onEvent, signal);
    if (step.kind === 'answer' && step.answer.text !== '') onEvent({ kind: 'text', text: step.answer.text });
    return step;
  }

  preconnect(): Promise<boolean> {
    return Promise.resolve(true);
  }

  close(): void {}
}

export function answer(parts: Partial<ModelAnswer>): ModelOutcome {
  return {
    kind: 'answer',
    answer: {
      text: '',
      calls: [],
      reasoning: [],
      stop: (parts.calls ?? []).length > 0 ? 'tool_calls' : 'end',
      usage: { input_tokens: 100, output_tokens: 20, cached_tokens: 0, estimated: false },
      model: 'scripted-1',
      ...parts,
    },
  };
}

export function says(text: string): ModelOutcome {
  return answer({ text });
}

/** Calls as `[wire name, arguments]`; a string goes out as it is. Provider ids are all the same on purpose. */
export function asks(...calls: readonly (readonly [string, JsonObject | string])[]): ModelOutcome {
  return answer({ calls: calls.map(([name, args]) => rawCall(name, args)) });
}

function rawCall(name: string, args: JsonObject | string): RawCall {
  return {
    provider_id: 'same',
    wire_name: name,
    arguments_text: typeof args === 'string' ? args : JSON.stringify(args),
  };
}

/** Streams these pieces, then waits until it is stopped. */
export function hangs(...pieces: readonly string[]): ModelStep {
  return (_request, tell, signal) => {
    for (const text of pieces) tell({ kind: 'text', text });
    return new Promise((resolve) => {
      if (signal.aborted) resolve({ kind: 'aborted' });
      signal.addEventListener('abort', () => resolve({ kind: 'aborted' }));
    });
  };
}
