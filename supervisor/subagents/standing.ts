// How a subagent stands, as its parent is told. A result is shown up to a size; all of a longer one is kept as an artifact
// of the parent's conversation, once.
import type { newId } from '../../shared/ids.js';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { RESULT_BYTES } from '../../shared/tools/subagent-tools.js';
import { cutText } from '../../shared/transcript/unicode.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';

/** For whom: the conversation that is told, and the moment. */
export interface Told {
  readonly threadId: string;
  readonly turnId: string;
  readonly nowMs: number;
  readonly newId: typeof newId;
}

export interface Standing {
  readonly view: JsonObject;
  /** It ended, and not with what was asked for. */
  readonly failed: boolean;
  /** Keeps what was cut. To be called inside the transaction that records the view. */
  keep(): void;
}

/** Several that are shown together share the room of two. */
const SHARED_BYTES = 2 * RESULT_BYTES;
const LEAST_BYTES = 500;
const ERROR_BYTES = 1_000;

export function roomFor(count: number): number {
  return Math.max(LEAST_BYTES, Math.min(RESULT_BYTES, Math.floor(SHARED_BYTES / count)));
}

export function standingOf(store: Store, turn: TurnRow, told: Told, bytes: number): Standing {
  const head = { handle: turn.thread_id, turn_id: turn.turn_id, status: statusOf(turn) };
  if (turn.state !== 'ended' && turn.status === null)
    return { view: head, failed: false, keep: () => undefined };
  const { shown, keep } = resultOf(store, turn, told, bytes);
  const { input_tokens, output_tokens } = store.usage.ofTree(turn.turn_id);
  const error = turn.error_message === null ? {} : { error: cutText(turn.error_message, ERROR_BYTES) };
  return {
    view: { ...head, ...shown, ...error, usage: { input_tokens, output_tokens } },
    failed: turn.status !== 'completed',
    keep,
  };
}

/** In one word. */
export function statusOf({ state, status, windows }: TurnRow): string {
  if (status !== null) return status;
  if (state === 'queued') return windows > 0 ? 'waiting' : 'queued';
  return state === 'stopping' ? 'stopping' : 'running';
}

function resultOf(
  store: Store,
  turn: TurnRow,
  told: Told,
  bytes: number,
): { readonly shown: JsonObject; readonly keep: () => void } {
  const size = Buffer.byteLength(turn.reply);
  if (size <= bytes) return { shown: { result: answerOf(turn) }, keep: () => undefined };
  const name = `result of ${turn.turn_id}`;
  const kept = store.artifacts.list(told.threadId, name, 1)[0];
  const artifactId = kept?.artifact_id ?? told.newId('artifact', told.nowMs);
  return {
    shown: {
      ...{ result: cutText(turn.reply, bytes), truncated: true },
      ...{ result_bytes: size, artifact_id: artifactId },
    },
    keep: () => {
      if (kept !== undefined) return;
      store.artifacts.create(Buffer.from(turn.reply), {
        ...{ artifact_id: artifactId, thread_id: told.threadId, turn_id: told.turnId, name },
        mime: 'text/plain; charset=utf-8',
        created_at_ms: told.nowMs,
      });
    },
  };
}

/** An answer that had to match a schema is a value; any other is text. */
function answerOf({ reply, status, options }: TurnRow): JsonValue {
  if (options.output_schema === undefined || status !== 'completed') return reply;
  try {
    return JSON.parse(reply) as JsonValue;
  } catch {
    return reply;
  }
}
