// A supervisor whose turns do what the test says, on a real store: what clients see of it is what they see of the real one.
import { EventEmitter } from 'node:events';
import { systemClock } from '../../shared/clock.js';
import type { ProgressEvent } from '../../shared/ipc/progress.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { TurnStatus } from '../../shared/outcome.js';
import type { Engine, EngineStatus } from '../../supervisor/handlers/ports.js';
import { acceptMessage } from '../../supervisor/intake/accept-message.js';
import type { TurnRow } from '../../supervisor/store/rows.js';
import type { Store } from '../../supervisor/store/types.js';
import type { LiveListener } from '../../supervisor/tools/running-turn.js';

const clock = systemClock;
const OPEN_DOOR = {
  maxMessageDepth: 9,
  perPrincipal: 10_000,
  total: 10_000,
  waiting: () => ({ ofPrincipal: 0, total: 0 }),
};

export class PlayedEngine implements Engine {
  readonly store: Store;
  /** Ends that were asked for, in order. */
  readonly ends: string[] = [];
  /** Turns that end as soon as their end is asked for. */
  endsAtOnce = true;
  standing: EngineStatus = { paused: false, draining: false, shedding: false };
  readonly #live = new EventEmitter();

  constructor(store: Store) {
    this.store = store;
    this.#live.setMaxListeners(0);
  }

  subscribe(listener: LiveListener): () => void {
    this.#live.on('live', listener);
    return () => this.#live.off('live', listener);
  }

  accept: Engine['accept'] = (message) => {
    const accepted = acceptMessage(this.store, clock.now(), message, OPEN_DOOR);
    if (accepted.ok && !accepted.repeated)
      this.#live.emit('live', accepted.turnId, { type: 'journal', event: accepted.event });
    return accepted;
  };

  requestEnd(turnId: string): boolean {
    if (this.row(turnId).state === 'ended') return false;
    this.ends.push(turnId);
    if (this.endsAtOnce) this.finish(turnId, 'cancelled');
    return true;
  }

  whenSettled(turnId: string): Promise<TurnRow> {
    if (this.row(turnId).state === 'ended') return Promise.resolve(this.row(turnId));
    return new Promise((resolve) => this.#live.once(`settled:${turnId}`, () => resolve(this.row(turnId))));
  }

  answer: Engine['answer'] = (waitId, result) => {
    const wait = this.store.waits.get(waitId);
    if (wait === undefined) return 'unknown';
    if (!wait.open) return 'already_answered';
    this.store.transact('answer_wait', () => this.store.waits.close(waitId));
    this.journal(wait.turn_id, {
      kind: 'tool_result',
      call_id: waitId,
      tool: wait.tool,
      content: { answer: result },
      is_error: false,
      end: 'done',
      duration_ms: 1,
    });
    return 'answered';
  };

  pause(): void {
    this.standing = { ...this.standing, paused: true };
  }
  resume(): void {
    this.standing = { ...this.standing, paused: false };
  }
  drain(): Promise<void> {
    this.standing = { ...this.standing, draining: true };
    return Promise.resolve();
  }
  status(): EngineStatus {
    return this.standing;
  }

  row(turnId: string): TurnRow {
    const row = this.store.turns.get(turnId);
    if (row === undefined) throw new Error(`no turn ${turnId}`);
    return row;
  }

  /** Makes an event durable, with what belongs to it, and tells it. */
  journal(turnId: string, event: JournalEvent, beside: () => void = () => undefined): void {
    this.store.transact('record_progress', () => {
      this.store.events.append(turnId, this.row(turnId).thread_id, event, clock.now());
      beside();
    });
    this.#live.emit('live', turnId, { type: 'journal', event });
  }

  progress(turnId: string, progress: ProgressEvent): void {
    this.#live.emit('live', turnId, { type: 'progress', progress });
  }

  /** One whole answer: some deltas, then the message. */
  say(turnId: string, text: string, itemId = `item_${turnId}`): void {
    this.progress(turnId, { event: 'round', round: 1 });
    for (const piece of text.match(/.{1,4}/gs) ?? [])
      this.progress(turnId, { event: 'delta', item_id: itemId, stream: 'text', text: piece });
    this.journal(turnId, {
      kind: 'assistant_message',
      item_id: itemId,
      round: 1,
      text,
      calls: [],
      stop: 'stop',
      model: 'm',
    });
  }

  call(turnId: string, callId: string, tool: string, args: Record<string, string>): void {
    this.journal(turnId, {
      kind: 'tool_intent',
      call_id: callId,
      round: 1,
      index: 0,
      tool,
      arguments: args,
      verdict: 'allow',
      reason: 'full_access',
      runs: 'worker',
    });
  }

  ask(turnId: string, callId: string, question: string): void {
    const { thread_id } = this.row(turnId);
    const wait = {
      wait_id: callId,
      turn_id: turnId,
      thread_id,
      tool: 'ask_human',
      subject: { question, options: ['yes', 'no'] },
      wake_at_ms: null,
      created_at_ms: clock.now(),
    };
    this.store.transact('state_tool', () => this.store.waits.insert(wait));
    this.call(turnId, callId, 'ask_human', { question });
  }

  /** The last answer and the end in one transaction, told one after the other: as when a worker's last frames meet. */
  sayAndFinish(turnId: string, text: string): void {
    const said: JournalEvent = {
      kind: 'assistant_message',
      item_id: `last_${turnId}`,
      round: 1,
      text,
      calls: [],
      stop: 'stop',
      model: 'm',
    };
    this.finish(turnId, 'completed', text, [said]);
  }

  finish(
    turnId: string,
    status: TurnStatus = 'completed',
    reply = 'the answer',
    before: JournalEvent[] = [],
  ): void {
    const error = status === 'completed' ? {} : { error: { code: status, message: `it was ${status}` } };
    const event: JournalEvent = { kind: 'turn_ended', status, reply, ...error };
    this.store.transact('settle_turn', () => {
      const row = this.row(turnId);
      for (const each of [...before, event])
        this.store.events.append(turnId, row.thread_id, each, clock.now());
      this.store.turns.transition(turnId, 'settle', {
        status,
        reply,
        ended_at_ms: clock.now(),
        error_code: error.error?.code ?? null,
        error_message: error.error?.message ?? null,
      });
      this.store.inbox.markDone(this.store.inbox.ofTurn(turnId)?.event_id ?? '');
    });
    for (const each of [...before, event]) this.#live.emit('live', turnId, { type: 'journal', event: each });
    this.#live.emit(`settled:${turnId}`);
  }
}
