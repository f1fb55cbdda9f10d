// When a thread is folded: before a turn that would not fit, after one that made it outgrow, and within one when its
// worker asks. Where there is nothing to do, looking costs one sum over an index.

import type { ToWorker } from '../../shared/ipc/to-worker.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { PlannedTool } from '../../shared/tools/tool-plan.js';
import { estimateMessages } from '../../shared/transcript/estimate-tokens.js';
import type { Message } from '../../shared/transcript/message.js';
import { readSummary } from '../../shared/transcript/summary.js';
import type { Cut } from '../store/rows.js';
import type { Store } from '../store/types.js';
import type { Compactor, View } from './compaction.js';
import type { TurnRoom, TurnRooms } from './turn-rooms.js';

export interface CompactPhasesParts {
  readonly store: Store;
  readonly compactor: Compactor;
  readonly rooms: TurnRooms;
  readonly view: View;
  /** Of the model that the next turn of the thread is for. */
  settings(): ModelSettings;
}

interface TurnOf {
  readonly turnId: string;
  readonly threadId: string;
}

type Answer = Omit<Extract<ToWorker, { type: 'compact_answer' }>, 'type' | 'id'>;
type Why = 'threshold' | 'overflow' | 'asked';

/** Stored bytes are at least this many for each token of an estimate. */
const BYTES_PER_TOKEN_LEAST = 2.5;
/** Next to a summary, of the room. */
const BESIDE_SUMMARY = 0.6;
/** After a fold within a turn, so that its next rounds have somewhere to go. */
const WITHIN_SHARE = 0.85;
/** After a refusal. */
const REFUSED_SHARE = 0.7;
/** A thread that could not be folded is left alone until it has grown by this much. */
const GROWTH = 1.1;

export class CompactPhases {
  readonly #parts: CompactPhasesParts;
  readonly #futile = new Map<string, number>();

  constructor(parts: CompactPhasesParts) {
    this.#parts = parts;
  }

  /** Null at once when the turn fits. Never rejects. */
  before(turn: TurnOf, signal: AbortSignal): Promise<void> | null {
    const room = this.#crowded(turn);
    if (room === null) return null;
    const { store, compactor } = this.#parts;
    const text = store.inbox.ofTurn(turn.turnId)?.text ?? '';
    // A quarter of the room: from there on it may be shown shortened.
    if (text.length > room.messages) compactor.keepWhole(turn.turnId, turn.threadId, text);
    return this.#fold({ ...turn, atWork: true }, room, signal);
  }

  /** Null at once when the thread still fits. Never rejects. */
  after(turn: TurnOf, signal: AbortSignal): Promise<void> | null {
    const room = this.#crowded(turn);
    return room === null ? null : this.#fold({ ...turn, atWork: false }, room, signal);
  }

  /** What the worker goes on with; messages null when there is nothing to gain. */
  async within(
    turn: TurnOf & { readonly snapshot: Snapshot },
    why: Why,
    signal: AbortSignal,
  ): Promise<Answer> {
    const { compactor, rooms, view } = this.#parts;
    const { turnId, threadId, snapshot } = turn;
    const { model, system_prompt: prompt, tools } = snapshot;
    if (why === 'overflow') {
      const room = rooms.of(model, prompt, tools);
      rooms.refused(model, room, estimateMessages(view({ turnId, threadId, roomTokens: room.messages })));
    }
    const room = rooms.of(model, prompt, tools).messages;
    const done = await compactor.compact({ turnId, threadId, atWork: true }, room, signal);
    if (signal.aborted) return { messages: null, problem: 'the turn ends' };
    if (done.kind === 'nothing' && why === 'asked') return { messages: null, problem: done.problem };
    const roomTokens = Math.floor(room * (why === 'overflow' ? REFUSED_SHARE : WITHIN_SHARE));
    const messages = withReference(view({ turnId, threadId, roomTokens }), snapshot.messages);
    return done.kind === 'nothing' ? { messages, problem: done.problem } : { messages };
  }

  /** The room of a turn that does not fit into it; null when it does. */
  #crowded({ turnId, threadId }: TurnOf): TurnRoom | null {
    const { store, rooms, view, settings } = this.#parts;
    const room = rooms.usual(settings());
    const row = store.summaries.get(threadId);
    const cut: Cut | null =
      row === undefined ? null : { turnId: readSummary(row.summary).through_turn, seq: row.upto_seq };
    const free = cut === null ? room.messages : room.messages * BESIDE_SUMMARY;
    if (store.events.shownBytes(threadId, turnId, cut) / BYTES_PER_TOKEN_LEAST < free) return null;
    const tokens = estimateMessages(view({ turnId, threadId, roomTokens: room.messages, fit: false }));
    if (tokens <= room.messages || tokens < (this.#futile.get(threadId) ?? 0)) return null;
    return room;
  }

  async #fold(
    turn: TurnOf & { readonly atWork: boolean },
    room: TurnRoom,
    signal: AbortSignal,
  ): Promise<void> {
    const { compactor, view } = this.#parts;
    const { turnId, threadId } = turn;
    const done = await compactor.compact(turn, room.messages, signal);
    if (done.kind === 'done') this.#futile.delete(threadId);
    else if (!signal.aborted)
      this.#futile.set(
        threadId,
        Math.ceil(
          GROWTH * estimateMessages(view({ turnId, threadId, roomTokens: room.messages, fit: false })),
        ),
      );
  }
}

/** Notes at the end of what the turn began with that no journal holds: reference texts. They follow its request again. */
function withReference(messages: readonly Message[], began: readonly Message[]): Message[] {
  const last = began.findLastIndex((message) => message.role !== 'note');
  const known = new Set(messages.flatMap((message) => (message.role === 'note' ? [message.text] : [])));
  const notes = began
    .slice(last + 1)
    .filter((message) => message.role === 'note' && !known.has(message.text));
  const at = messages.findLastIndex((message) => message.role === 'user') + 1;
  return [...messages.slice(0, at), ...notes, ...messages.slice(at)];
}

interface Snapshot {
  readonly messages: readonly Message[];
  readonly model: ModelSettings;
  readonly system_prompt: string;
  readonly tools: readonly PlannedTool[];
}
