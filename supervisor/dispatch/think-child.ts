// Asks a model beside a turn: a worker of its own plays one turn without tools, and its answer, or why there is none,
// comes back as a value. It holds no slot and no thread: whoever asks holds them.

import { outputAllowance } from '../../shared/ipc/output-room.js';
import type { ToSupervisor, TurnOutcome } from '../../shared/ipc/to-supervisor.js';
import type { ModelSettings, TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JsonValue } from '../../shared/json.js';
import type { Masker } from '../../shared/mask.js';
import type { EndReason } from '../../shared/outcome.js';
import { estimateRequest } from '../../shared/transcript/estimate-tokens.js';
import type { Spender } from '../budgets/governor.js';
import type { Thinker, ThinkRequest, ThinkResult } from '../context/thinker.js';
import type { WarmPool, WorkerExit, WorkerHandle } from '../processes/types.js';
import { type ThinkModel, type ThinkScene, thinkSnapshot } from './think-snapshot.js';
import { ThoughtAccount } from './thought-account.js';
import { type BudgetPorts, estimateOf } from './turn-budget.js';
import { messageOf } from './turn-evidence.js';

/** How much later than the worker itself the supervisor calls the deadline: the worker ends more politely. */
const DEADLINE_SLACK_MS = 1_500;

export interface ThinkParts extends BudgetPorts {
  readonly pool: WarmPool;
  readonly masker: Masker;
  readonly scene: ThinkScene;
  /** The model of a role, and how it is reached. */
  modelFor(purpose: ThinkRequest['purpose']): ThinkModel;
  optionRefused(model: string, option: string): void;
  /** An endpoint failed, or works again. */
  endpoint?(url: string, works: boolean): void;
}

export interface ThinkPool extends Thinker {
  /** Ends what still thinks, starts nothing more, and resolves when no worker of it is left. */
  close(): Promise<void>;
}

export function makeThinker(parts: ThinkParts): ThinkPool {
  return new Thinkers(parts);
}

class Thinkers implements ThinkPool {
  readonly #parts: ThinkParts;
  readonly #live = new Set<Thought>();
  /** The last thought of each turn and purpose: the books know one at a time. */
  readonly #last = new Map<string, Promise<unknown>>();
  #closed = false;

  constructor(parts: ThinkParts) {
    this.#parts = parts;
  }

  think(request: ThinkRequest, signal: AbortSignal): Promise<ThinkResult> {
    const key = `${request.turnId} ${request.purpose}`;
    const before = this.#last.get(key);
    const result =
      before === undefined ? this.#think(request, signal) : before.then(() => this.#think(request, signal));
    this.#last.set(key, result);
    void result.then(() => {
      if (this.#last.get(key) === result) this.#last.delete(key);
    });
    return result;
  }

  async close(): Promise<void> {
    this.#closed = true;
    const thoughts = [...this.#live];
    for (const thought of thoughts) thought.end('drain');
    await Promise.all(thoughts.map((thought) => thought.gone));
  }

  async #think(request: ThinkRequest, signal: AbortSignal): Promise<ThinkResult> {
    if (signal.aborted || this.#closed) return CANCELLED;
    try {
      const spender = spenderOf(request);
      const model = this.#parts.modelFor(request.purpose);
      const refused = this.#refused(request, spender, model.settings);
      if (refused !== null) return refused;
      const worker = this.#parts.pool.take();
      const thought = new Thought(this.#parts, worker, request, spender);
      this.#live.add(thought);
      void thought.gone.then(() => this.#live.delete(thought));
      return await thought.answer(model, signal);
    } catch (error) {
      return { ok: false, code: 'internal_error', message: this.#parts.masker.text(messageOf(error)) };
    }
  }

  /** What no wait would bring room for needs no worker to be told so. */
  #refused(request: ThinkRequest, spender: Spender, settings: ModelSettings): ThinkResult | null {
    const { governor, clock } = this.#parts;
    if (!governor.active) return null;
    const now = clock.now();
    const model = { ...settings, max_output_tokens: request.max_output_tokens };
    const input = estimateRequest(request.system_prompt, request.messages, []);
    const tokens = input + outputAllowance(model);
    const admission = governor.admit(spender, estimateOf(model, tokens), now, now);
    return admission.kind === 'stop' ? { ok: false, code: admission.code, message: admission.reason } : null;
  }
}

function spenderOf({ turnId, threadId, principal, purpose }: ThinkRequest): Spender {
  return { turnId, threadId, principal, purpose };
}

class Thought {
  /** Resolves when its worker is gone. */
  readonly gone: Promise<void>;
  readonly #parts: ThinkParts;
  readonly #worker: WorkerHandle;
  readonly #request: ThinkRequest;
  readonly #spender: Spender;
  #endReason: EndReason | null = null;
  #fault: string | null = null;
  #result: ThinkResult | null = null;
  #resolve: (result: ThinkResult) => void = () => undefined;

  constructor(parts: ThinkParts, worker: WorkerHandle, request: ThinkRequest, spender: Spender) {
    this.#parts = parts;
    this.#worker = worker;
    this.#request = request;
    this.#spender = spender;
    this.gone = worker.ended.then(() => undefined);
  }

  answer(model: ThinkModel, signal: AbortSignal): Promise<ThinkResult> {
    const { clock, scene } = this.#parts;
    const snapshot = thinkSnapshot(scene, this.#request, model, this.#worker.marker, clock.now());
    const account = new ThoughtAccount(this.#parts, this.#spender, snapshot);
    const onAbort = (): void => this.end('cancel');
    const cancelDeadline = clock.after(snapshot.limits.deadline_ms + DEADLINE_SLACK_MS, () =>
      this.end('deadline'),
    );
    signal.addEventListener('abort', onAbort, { once: true });
    const answered = new Promise<ThinkResult>((resolve) => {
      this.#resolve = resolve;
    });
    this.#worker.onFrame((frame) => this.#guarded(() => this.#fold(frame, account, snapshot)));
    void this.#worker.ended.then((exit) => {
      cancelDeadline();
      signal.removeEventListener('abort', onAbort);
      this.#guarded(() => this.#conclude(account, deathOf(exit, this.#endReason)));
    });
    this.#worker.send({ type: 'turn', snapshot, credentials: model.credentials });
    return answered;
  }

  end(reason: EndReason): void {
    this.#endReason ??= reason;
    this.#worker.end(this.#endReason);
  }

  /** What cannot be written down ends the thought, never the supervisor. */
  #guarded(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fault ??= this.#parts.masker.text(messageOf(error));
      this.#worker.end('protocol', { now: true });
      this.#settle({ ok: false, code: 'internal_error', message: this.#fault });
    }
  }

  #fold(frame: ToSupervisor, account: ThoughtAccount, snapshot: TurnSnapshot): void {
    if (this.#result !== null) return;
    switch (frame.type) {
      case 'progress':
        this.#foldProgress(frame, account, snapshot);
        return;
      case 'budget_request': {
        if (this.#endReason !== null) return;
        const answer = account.answer(frame.estimate_tokens, frame.model);
        this.#worker.send({ type: 'budget_answer', id: frame.id, answer });
        return;
      }
      case 'turn_done':
        this.#conclude(account, this.#resultOf(frame.outcome));
        return;
      case 'failed':
        this.#conclude(account, { ok: false, code: 'worker_lost', message: frame.message });
        return;
      case 'tool_request':
      case 'tool_result':
      case 'compact_request':
        throw new TypeError(`a ${frame.type} of a worker that has no tools`);
      default:
    }
  }

  #foldProgress(
    { progress }: Extract<ToSupervisor, { type: 'progress' }>,
    account: ThoughtAccount,
    snapshot: TurnSnapshot,
  ): void {
    if (progress.event === 'round') account.begun();
    else if (progress.event === 'usage') account.settle(progress.model, progress.usage, progress.asked);
    else if (progress.event === 'option_dropped')
      this.#parts.optionRefused(progress.model ?? snapshot.model.model, progress.option);
    else if (progress.event === 'endpoint_failed' || progress.event === 'endpoint_ok')
      this.#parts.endpoint?.(progress.url, progress.event === 'endpoint_ok');
  }

  #resultOf(outcome: TurnOutcome): ThinkResult {
    const { masker } = this.#parts;
    if (outcome.status !== 'completed') {
      const code = outcome.error?.code ?? outcome.status;
      return { ok: false, code, message: outcome.error?.message ?? `it ended ${outcome.status}` };
    }
    const text = masker.text(outcome.reply);
    if (this.#request.output_schema === undefined) return { ok: true, value: text, text };
    // The worker has checked it, and writes it as JSON.
    return { ok: true, value: masker.json(JSON.parse(outcome.reply) as JsonValue), text };
  }

  #conclude(account: ThoughtAccount, result: ThinkResult): void {
    if (this.#result !== null) return;
    account.close();
    this.#settle(result);
    // The answer is safe; a worker that lingers after its last frame is not waited for longer than the ladder.
    this.#worker.end('operator');
  }

  #settle(result: ThinkResult): void {
    if (this.#result !== null) return;
    this.#result = result.ok ? result : { ...result, message: this.#parts.masker.text(result.message) };
    this.#resolve(this.#result);
  }
}

const CANCELLED: ThinkResult = { ok: false, code: 'cancelled', message: 'it was cancelled' };

function deathOf(exit: WorkerExit, endReason: EndReason | null): ThinkResult {
  if (endReason === 'deadline')
    return { ok: false, code: 'deadline', message: 'there was no answer within its time' };
  if (endReason !== null) return CANCELLED;
  if (exit.fault !== null) return { ok: false, code: exit.fault.code, message: exit.fault.message };
  const how = exit.signal === null ? `exited with code ${exit.code ?? '?'}` : `was ended by ${exit.signal}`;
  return { ok: false, code: 'worker_lost', message: `the worker process ${how} and gave no answer` };
}
