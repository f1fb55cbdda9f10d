// The calls that wait, of running and of parked turns. Each is answered once, together with the result of its call, or
// withdrawn by the end of its turn; whichever is first. They stay armed while their turn has no worker.
import { strict as assert } from 'node:assert';
import type { Clock } from '../../shared/clock.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { Masker } from '../../shared/mask.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import type { WaitRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { journal, type LiveListener, type RunningTurn, type WaitDesk } from '../tools/running-turn.js';
import type { WaitingTool } from '../tools/waiting-tool.js';

export interface WaitsPorts {
  readonly store: Store;
  readonly clock: Clock;
  readonly masker: Masker;
  readonly live: LiveListener;
  /** By the name of the tool. */
  readonly tools: Readonly<Record<string, WaitingTool>>;
  /** A turn without a worker has all its answers. */
  answered(turnId: string): void;
  /** A turn with a worker waits for turns that may run in its place. */
  lent?(): void;
  log(event: 'wait.unrecorded', fields: Record<string, unknown>): void;
}

export type Answered = 'answered' | 'unknown' | 'already_answered';

interface OpenWait {
  readonly row: WaitRow;
  /** Stops what would answer it. */
  stop: () => void;
  /** The worker that asked; null once the turn has none. */
  asker: { readonly turn: RunningTurn; readonly deliver: (result: ToolResult) => void } | null;
}

/** How long to wait with an answer that the store did not take. */
const AGAIN_MS = 5_000;

export class Waits implements WaitDesk {
  readonly #ports: WaitsPorts;
  readonly #open = new Map<string, OpenWait>();
  readonly #ofTurn = new Map<string, Set<OpenWait>>();

  constructor(ports: WaitsPorts) {
    this.#ports = ports;
  }

  tool(name: string): WaitingTool | undefined {
    return this.#ports.tools[name];
  }

  opened(row: WaitRow, turn: RunningTurn, deliver: (result: ToolResult) => void): void {
    this.#arm(row, { turn, deliver });
    turn.waited();
    if (this.lends(row.turn_id)) this.#ports.lent?.();
  }

  /** Takes up what an earlier supervisor left waiting. Once, before anything is accepted. */
  rearm(): void {
    for (const row of this.#ports.store.waits.allOpen()) this.#arm(row, null);
  }

  /** Calls of a turn that wait. */
  openOf(turnId: string): number {
    return this.#ofTurn.get(turnId)?.size ?? 0;
  }

  /** Whether the turn waits for turns that may run in its place. */
  lends(turnId: string): boolean {
    for (const { row } of this.#ofTurn.get(turnId) ?? []) if (this.#ports.tools[row.tool]?.lends) return true;
    return false;
  }

  /** The worker of the turn leaves; its waits go on without it. */
  detach(turnId: string): void {
    for (const open of this.#ofTurn.get(turnId) ?? []) open.asker = null;
  }

  /** The turn has ended, and its waits with it. After that is committed. */
  withdraw(turnId: string): void {
    for (const open of [...(this.#ofTurn.get(turnId) ?? [])]) {
      this.#forget(open);
      open.stop();
    }
  }

  /** Answers from outside of the tool, as a person does. Throws where the answer cannot be written down. */
  answer(waitId: string, result: ToolResult): Answered {
    const open = this.#open.get(waitId);
    if (open === undefined)
      return this.#ports.store.waits.get(waitId) === undefined ? 'unknown' : 'already_answered';
    this.#record(open, result);
    open.stop();
    return 'answered';
  }

  close(): void {
    for (const open of this.#open.values()) open.stop();
    this.#open.clear();
    this.#ofTurn.clear();
  }

  #arm(row: WaitRow, asker: OpenWait['asker']): void {
    const tool = this.#ports.tools[row.tool];
    const open: OpenWait = { row, stop: () => undefined, asker };
    this.#open.set(row.wait_id, open);
    const others = this.#ofTurn.get(row.turn_id);
    if (others === undefined) this.#ofTurn.set(row.turn_id, new Set([open]));
    else others.add(open);
    if (tool === undefined) {
      // Of a configuration that is no more: the turn must not wait for ever.
      this.#take(open, { content: { error: `there is no tool ${row.tool} any more` }, is_error: true });
      return;
    }
    const stop = tool.arm(row, (result, beside) => this.#take(open, result, beside));
    if (this.#open.get(row.wait_id) === open) open.stop = stop;
  }

  /** An answer that comes by itself. Where the store takes nothing it comes again. */
  #take(open: OpenWait, result: ToolResult, beside?: () => void): void {
    if (this.#open.get(open.row.wait_id) !== open) return;
    try {
      this.#record(open, result, beside);
    } catch (error) {
      const { wait_id, turn_id } = open.row;
      // What else the turn had to write went with it: it ends, as with any step that cannot be written down.
      if (open.asker !== null) {
        open.asker.turn.broken(error);
        return;
      }
      const message = error instanceof Error ? error.message : String(error);
      this.#ports.log('wait.unrecorded', { turn_id, wait_id, message });
      open.stop = this.#ports.clock.after(AGAIN_MS, () => this.#take(open, result, beside));
    }
  }

  #record(open: OpenWait, result: ToolResult, beside: () => void = () => undefined): void {
    const { row, asker } = open;
    const { store, clock } = this.#ports;
    const event: JournalEvent = {
      kind: 'tool_result',
      call_id: row.wait_id,
      tool: row.tool,
      content: result.content,
      is_error: result.is_error,
      end: 'done',
      duration_ms: Math.max(0, clock.now() - row.created_at_ms),
    };
    const close = (): void => {
      assert(store.waits.close(row.wait_id), `wait ${row.wait_id} was closed already`);
      store.calls.transition(row.wait_id, 'finish');
      beside();
    };
    if (asker === null) this.#write(row, event, close);
    else journal(asker.turn, 'answer_wait', [event], close);
    this.#forget(open);
    if (asker !== null) asker.deliver(result);
    else if (this.openOf(row.turn_id) === 0) this.#ports.answered(row.turn_id);
  }

  #write(row: WaitRow, event: JournalEvent, close: () => void): void {
    const { store, clock, masker, live } = this.#ports;
    const kept = masker.kept(event as never) as JournalEvent;
    store.transact('answer_wait', () => {
      close();
      store.events.append(row.turn_id, row.thread_id, kept, clock.now());
    });
    live(row.turn_id, { type: 'journal', event: kept });
  }

  #forget(open: OpenWait): void {
    const { wait_id, turn_id } = open.row;
    this.#open.delete(wait_id);
    const others = this.#ofTurn.get(turn_id);
    others?.delete(open);
    if (others?.size === 0) this.#ofTurn.delete(turn_id);
  }
}
