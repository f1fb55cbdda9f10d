// One model call of a turn: admission, request, live deltas, and what it cost. What the answer means is the loop's
// business. Every call that went out is charged exactly once, also when no answer came.

import { sleep } from '../shared/clock.js';
import { newId } from '../shared/ids.js';
import { outputAllowance } from '../shared/ipc/output-room.js';
import type { TurnOutcome } from '../shared/ipc/to-supervisor.js';
import type { ModelSettings } from '../shared/ipc/turn-snapshot.js';
import { estimateTokens } from '../shared/transcript/estimate-tokens.js';
import type { Message } from '../shared/transcript/message.js';
import { repairHistory } from '../shared/transcript/repair.js';
import { cutText } from '../shared/transcript/unicode.js';
import { addUsage, NO_USAGE, type Usage } from '../shared/transcript/usage.js';
import { fallBack, hasAnotherWay } from './fall-back.js';
import { requestEstimate } from './fold.js';
import type { ModelAnswer, ModelEvent, ModelOutcome, ModelRequest } from './models/provider.js';
import { ended, interrupted } from './outcome.js';
import { RepetitionWatch } from './repetition.js';
import type { Turn } from './turn-state.js';

/** The item id is that of the deltas; `model` is the one that was asked. */
export type Asked =
  | { readonly kind: 'answer'; readonly answer: ModelAnswer; readonly itemId: string; readonly model: string }
  /** The model could not be reached, and another is to be asked. */
  | { readonly kind: 'again' }
  | { readonly kind: 'over'; readonly outcome: TurnOutcome };

type Admission =
  | { readonly kind: 'go'; readonly model: string }
  | { readonly kind: 'over'; readonly outcome: TurnOutcome };

/** A supervisor that says "wait 0" is not asked in a spin. */
const SHORTEST_WAIT_MS = 50;
const SHOWN_BYTES = 80;

/** Asks the supervisor's budget, waits as long as it says, and asks again. */
export async function admit(turn: Turn): Promise<Admission> {
  if (!turn.snapshot.budget_admission) return { kind: 'go', model: turn.settings.model };
  const estimate = estimateInput(turn, turn.history) + outputAllowance(turn.settings);
  const other = turn.fallen === 0 ? undefined : turn.settings.model;
  for (;;) {
    const answer = await turn.end.orEnd(turn.link.askBudget(estimate, other));
    if (answer === null || turn.end.why() !== null) return { kind: 'over', outcome: interrupted(turn) };
    if (answer.kind === 'go') return { kind: 'go', model: answer.model ?? turn.settings.model };
    if (answer.kind === 'stop')
      return { kind: 'over', outcome: ended(turn, answer.code, answer.code, answer.reason) };
    await sleep(turn.clock, Math.max(SHORTEST_WAIT_MS, answer.wait_ms), turn.end.signal);
  }
}

/** One request to the model, as a new round. */
export async function askModel(turn: Turn, model: string): Promise<Asked> {
  turn.rounds += 1;
  turn.link.progress({ event: 'round', round: turn.rounds });
  const request = requestOf(turn, { ...turn.settings, model });
  const stream = new AnswerStream(turn, model);
  const outcome = await turn.provider.call(request, (event) => stream.take(event), stream.signal);
  stream.close();
  charge(turn, request, stream, outcome);
  if (stream.repeated !== null) return { kind: 'over', outcome: repetition(turn, stream.repeated) };
  switch (outcome.kind) {
    case 'answer':
      return { kind: 'answer', answer: outcome.answer, itemId: stream.itemId, model };
    case 'aborted':
    case 'timeout':
      return { kind: 'over', outcome: interrupted(turn) };
    case 'failed':
      if (turn.end.why() !== null) return { kind: 'over', outcome: interrupted(turn) };
      if (fallBack(turn, outcome)) return { kind: 'again' };
      return { kind: 'over', outcome: ended(turn, 'failed', outcome.code, outcome.message) };
  }
}

function requestOf(turn: Turn, settings: ModelSettings): ModelRequest {
  const { snapshot } = turn;
  return {
    settings,
    credentials: turn.credentials,
    system_prompt: snapshot.system_prompt,
    messages: repairHistory(turn.history.map((message) => ownReasoningOnly(message, settings.model))),
    tools: snapshot.tools,
    ...(snapshot.output_schema === undefined ? {} : { output_schema: snapshot.output_schema }),
    deadline_ms: turn.end.remainingMs(),
  };
}

/** Reasoning parts are readable for the model that wrote them, and refused by any other. */
function ownReasoningOnly(message: Message, model: string): Message {
  if (message.role !== 'assistant' || message.reasoning === undefined) return message;
  const { reasoning, ...rest } = message;
  const own = reasoning.filter((part) => part.model === model);
  return own.length === 0 ? rest : { ...rest, reasoning: own };
}

function repetition(turn: Turn, piece: string): TurnOutcome {
  const shown = JSON.stringify(cutText(piece, SHOWN_BYTES));
  return ended(turn, 'loop_detected', 'loop_detected', `the answer repeats ${shown} without end`);
}

/** Passes deltas on as they come, and stops a stream that repeats one piece for ever. */
class AnswerStream {
  readonly #turn: Turn;
  readonly #model: string;
  readonly #controller = new AbortController();
  readonly #onEnd = (): void => this.#controller.abort(this.#turn.end.signal.reason);
  #watches = freshWatches();
  /** Changes when an attempt fails after deltas: what they showed is void. */
  itemId: string;
  /** All text of this call, failed attempts included. */
  written = '';
  /** The piece that the model repeats, once it does. */
  repeated: string | null = null;

  constructor(turn: Turn, model: string) {
    this.#turn = turn;
    this.#model = model;
    this.itemId = newId('item', turn.clock.now());
    if (turn.end.signal.aborted) this.#onEnd();
    else turn.end.signal.addEventListener('abort', this.#onEnd, { once: true });
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  close(): void {
    this.#turn.end.signal.removeEventListener('abort', this.#onEnd);
  }

  /** Names the model where it is not the one that everybody expects. */
  #other(): { model?: string } {
    return this.#model === this.#turn.snapshot.model.model ? {} : { model: this.#model };
  }

  take(event: ModelEvent): void {
    const { link, clock } = this.#turn;
    switch (event.kind) {
      case 'text':
      case 'reasoning':
        if (this.signal.aborted) return;
        this.written += event.text;
        link.progress({ event: 'delta', item_id: this.itemId, stream: event.kind, text: event.text });
        this.repeated = this.#watches[event.kind].push(event.text);
        if (this.repeated !== null) this.#controller.abort('loop');
        return;
      case 'restart':
        this.itemId = newId('item', clock.now());
        this.#watches = freshWatches();
        return;
      case 'retry':
        link.progress({
          event: 'retry_scheduled',
          item_id: this.itemId,
          attempt: event.attempt,
          delay_ms: event.delay_ms,
          reason: event.reason,
        });
        return;
      case 'option_dropped':
        this.#turn.settings = {
          ...this.#turn.settings,
          omit: [...this.#turn.settings.omit, event.option],
        };
        link.progress({ event: 'option_dropped', option: event.option, ...this.#other() });
        return;
      case 'endpoint': {
        if (!hasAnotherWay(this.#turn)) return;
        const { url, works, reason } = event;
        link.progress(works ? { event: 'endpoint_ok', url } : { event: 'endpoint_failed', url, reason });
      }
    }
  }
}

function freshWatches(): Record<'text' | 'reasoning', RepetitionWatch> {
  return { text: new RepetitionWatch(), reasoning: new RepetitionWatch() };
}

/** Adds what the call cost to the turn and tells the supervisor, who settles it at once. */
function charge(turn: Turn, request: ModelRequest, stream: AnswerStream, outcome: ModelOutcome): void {
  const usage = usageOf(turn, request, stream, outcome);
  turn.used = addUsage(turn.used, usage);
  const model = outcome.kind === 'answer' ? outcome.answer.model : request.settings.model;
  const asked = request.settings.model;
  const known = turn.snapshot.context !== undefined && outcome.kind === 'answer';
  const counted = known && !usage.estimated && usage.input_tokens > 0;
  turn.link.progress({
    event: 'usage',
    call_index: turn.rounds,
    model,
    ...(asked === turn.snapshot.model.model ? {} : { asked }),
    usage,
    ...(counted ? { estimate_tokens: requestEstimate(turn, request.messages) } : {}),
  });
}

function usageOf(turn: Turn, request: ModelRequest, stream: AnswerStream, outcome: ModelOutcome): Usage {
  if (outcome.kind === 'answer') {
    const { answer } = outcome;
    if (answer.usage === null) return estimated(turn, request, textOf(answer));
    calibrate(turn, request, answer.usage);
    return answer.usage;
  }
  if (outcome.kind !== 'failed') return estimated(turn, request, stream.written);
  if (outcome.charged !== null) return outcome.charged;
  // A request that failed before its first word costs nothing; one that broke off was being written, and is billed.
  return stream.written === '' ? NO_USAGE : estimated(turn, request, stream.written);
}

function textOf(answer: ModelAnswer): string {
  return answer.calls.reduce((text, call) => text + call.wire_name + call.arguments_text, answer.text);
}

function estimated(turn: Turn, request: ModelRequest, output: string): Usage {
  return {
    input_tokens: estimateInput(turn, request.messages),
    output_tokens: estimateTokens(output),
    cached_tokens: 0,
    estimated: true,
  };
}

function estimateInput(turn: Turn, messages: readonly Message[]): number {
  return Math.ceil(turn.calibration * requestEstimate(turn, messages));
}

/** The provider's own count corrects later estimates, within reason. */
function calibrate(turn: Turn, request: ModelRequest, usage: Usage): void {
  const { budget_admission, context } = turn.snapshot;
  if ((!budget_admission && context === undefined) || usage.estimated || usage.input_tokens === 0) return;
  const ratio = usage.input_tokens / Math.max(1, requestEstimate(turn, request.messages));
  turn.calibration = Math.min(3, Math.max(0.5, ratio));
}
