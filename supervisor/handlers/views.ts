// Rows of the store as the public shapes that clients read.

import { isId } from '../../shared/ids.js';
import { TURN_STATES } from '../../shared/machines/turn.js';
import { permissionProfile } from '../../shared/protocol/permission.js';
import type { Thread } from '../../shared/protocol/thread.js';
import type { Turn, TurnFacts } from '../../shared/protocol/turn.js';
import { turnView } from '../../shared/protocol/turn.js';
import type { ThreadRow, TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { type HandlerParts, Refused } from './ports.js';

type Parts = Pick<HandlerParts, 'store' | 'defaultMode' | 'model'>;

export function factsOf(turn: TurnRow, { defaultMode }: Pick<HandlerParts, 'defaultMode'>): TurnFacts {
  const chosen = turn.options.permission_mode;
  const profile = permissionProfile(chosen ?? defaultMode, chosen === undefined ? 'defaulted' : 'composer');
  return { id: turn.turn_id, origin: 'user', profile };
}

export function turnOf(turn: TurnRow, parts: Parts): Turn {
  const facts = factsOf(turn, parts);
  if (turn.status !== null) {
    const { status: outcome, error_code: code, error_message: message } = turn;
    return turnView(facts, {
      outcome,
      ...(code === null ? {} : { code }),
      ...(message === null ? {} : { message }),
    });
  }
  const waits = parts.store.waits.openOf(turn.turn_id);
  const waiting = waits[0] === undefined ? (turn.state === 'queued' ? 'queue' : null) : waits[0].tool;
  return { ...turnView(facts, null), ...(waiting === null ? {} : { waiting }) };
}

const PREVIEW_CHARACTERS = 200;

/** `turns` are left out of lists: a thread may have thousands. */
export function threadOf(row: ThreadRow, parts: Parts, withTurns: boolean): Thread {
  const { store, model } = parts;
  const turns = store.turns.ofThread(row.thread_id);
  const [first] = turns;
  const last = turns.at(-1);
  const text = first === undefined ? '' : (store.inbox.ofTurn(first.turn_id)?.text ?? '');
  return {
    workspace_id: row.workspace_id,
    id: row.thread_id,
    preview: [...text.slice(0, 2 * PREVIEW_CHARACTERS)].slice(0, PREVIEW_CHARACTERS).join(''),
    ...(row.name === null ? {} : { name: row.name }),
    mode: row.mode,
    model: model.name,
    model_provider: model.provider,
    created_at: seconds(row.created_at_ms),
    updated_at: seconds(last?.ended_at_ms ?? last?.created_at_ms ?? row.created_at_ms),
    status: turns.some((turn) => turn.state !== 'ended') ? 'Active' : 'Idle',
    origin_kind: 'user',
    sidebar_visibility: 'visible',
    turns: withTurns ? turns.map((turn) => turnOf(turn, parts)) : [],
  };
}

export function seconds(ms: number): number {
  return Math.floor(ms / 1_000);
}

const OPEN = TURN_STATES.filter((state) => state !== 'ended');

/** Turns that have not ended, oldest first; of all threads when `threadId` is null. */
export function openTurns(store: Store, threadId: string | null): TurnRow[] {
  return store.turns.inStates(OPEN).filter((turn) => threadId === null || turn.thread_id === threadId);
}

export function threadRow(parts: Parts, threadId: string): ThreadRow {
  const row = parts.store.threads.get(threadId);
  if (row === undefined)
    throw new Refused(
      'thread_not_found',
      `there is no thread ${quoted(threadId)}; open it with thread/start`,
    );
  return row;
}

/** The turn, and the workspace it belongs to. */
export function turnRow(
  parts: Parts,
  { thread_id: threadId, turn_id: turnId }: { readonly thread_id: string; readonly turn_id: string },
): { readonly turn: TurnRow; readonly workspaceId: string } {
  const turn = parts.store.turns.get(turnId);
  if (turn?.thread_id !== threadId)
    throw new Refused('turn_not_found', `there is no turn ${quoted(turnId)} in thread ${quoted(threadId)}`);
  return { turn, workspaceId: threadRow(parts, threadId).workspace_id };
}

/** Foreign text in a message: short, and without what could end the line. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
}

/** A name that a client gives and that stays: printable, so that people can type it again. */
export function mustBeId(what: string, text: string): void {
  if (!isId(text))
    throw new Refused('invalid_params', `${what} must be letters, digits and . _ : @ -, at most 200 of them`);
}
