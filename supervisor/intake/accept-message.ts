// The door for messages: what is accepted is durable before anyone is told so. One message makes one turn. What may not
// come in is refused in words, and changes nothing.
import { newId } from '../../shared/ids.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { InboxRow, Lane, Producer, TurnOptions } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { type DoorRules, type Refusal, refusalOf } from './door-rules.js';
import { takeNotes } from './notes.js';

export interface IncomingMessage {
  readonly threadId: string;
  /** Absolute. A thread that exists stays where it is. */
  readonly workspaceRoot: string;
  /** On whose behalf: `operator`, somebody's name, or empty for nobody's. */
  readonly principal: string;
  readonly text: string;
  /** Left out: `client`. */
  readonly producer?: Producer;
  /** Left out: `person` for what a person sends, else `background`. */
  readonly lane?: Lane;
  /** Names this delivery: delivered again, it gets the first answer and nothing else happens. */
  readonly eventId?: string;
  /** An id of the sender's own choice; again with the same message, it gets the first answer. */
  readonly turnId?: string;
  /** Deliveries between this one and the message that a person or a timer sent. */
  readonly hop?: number;
  readonly parentTurnId?: string;
  readonly options?: TurnOptions;
}

export interface Accepted {
  readonly ok: true;
  readonly turnId: string;
  readonly threadId: string;
  readonly workspaceId: string;
  readonly principal: string;
  readonly lane: Lane;
  readonly producer: Producer;
  /** Of a subagent's: the turn that asked for it. */
  readonly parentTurnId?: string;
  /** The first event of the turn's journal. */
  readonly event: JournalEvent;
  /** It had been accepted before. */
  readonly repeated: boolean;
}

const PEOPLE = new Set<Producer>(['job', 'client', 'prompt']);

/** Writes inbox event, turn and user message in one transaction. When it returns, the message survives anything. */
export function acceptMessage(
  store: Store,
  nowMs: number,
  message: IncomingMessage,
  rules: DoorRules,
): Accepted | Refusal {
  // Looked at before, so that a message which changes nothing writes nothing.
  return (
    standingAnswer(store, message, rules) ??
    store.transact('accept_message', () => write(store, nowMs, message))
  );
}

/** The same for a caller that is inside a transaction: the message is accepted when that commits. */
export function acceptInside(
  store: Store,
  nowMs: number,
  message: IncomingMessage,
  rules: DoorRules,
): Accepted | Refusal {
  return standingAnswer(store, message, rules) ?? write(store, nowMs, message);
}

/** The first answer to the same delivery, or why there is none; null for a message that is let in. */
function standingAnswer(store: Store, message: IncomingMessage, rules: DoorRules): Accepted | Refusal | null {
  const { eventId, turnId } = message;
  const known =
    (eventId === undefined ? undefined : store.inbox.get(eventId)) ??
    (turnId === undefined ? undefined : store.inbox.ofTurn(turnId));
  if (known === undefined) return refusalOf(store, message, rules);
  // A delivery that is tried again may have been written anew; what somebody else sent stays theirs.
  const same = known.thread_id === message.threadId && known.text === message.text;
  if (known.principal === message.principal && (known.event_id === eventId || same))
    return firstAnswer(store, known);
  return { ok: false, code: 'id_taken', message: 'this id names another message already' };
}

function firstAnswer(store: Store, row: InboxRow): Accepted {
  return {
    ok: true,
    turnId: row.turn_id,
    threadId: row.thread_id,
    workspaceId: store.threads.get(row.thread_id)?.workspace_id ?? '',
    principal: row.principal,
    lane: row.lane,
    producer: row.producer,
    event: userMessage(row.turn_id, row),
    repeated: true,
  };
}

function write(store: Store, nowMs: number, message: IncomingMessage): Accepted {
  const { principal, text, producer = 'client', hop = 0, parentTurnId, options } = message;
  const lane = message.lane ?? (PEOPLE.has(producer) ? 'person' : 'background');
  const turnId = message.turnId ?? newId('turn', nowMs);
  const event = userMessage(turnId, message);
  const workspace = store.workspaces.ensure(message.workspaceRoot, nowMs);
  const thread = store.threads.ensure(message.threadId, workspace.workspace_id, principal, nowMs, {
    parent_turn_id: producer === 'subagent' ? (parentTurnId ?? null) : null,
  });
  store.turns.insert({
    turn_id: turnId,
    thread_id: thread.thread_id,
    created_at_ms: nowMs,
    ...(parentTurnId === undefined ? {} : { parent_turn_id: parentTurnId }),
    ...(options === undefined ? {} : { options }),
  });
  store.inbox.insert({
    event_id: message.eventId ?? newId('event', nowMs),
    turn_id: turnId,
    thread_id: thread.thread_id,
    principal,
    text,
    created_at_ms: nowMs,
    producer,
    lane,
    hop,
  });
  for (const each of [event, ...takeNotes(store, thread.thread_id)])
    store.events.append(turnId, thread.thread_id, each, nowMs);
  return {
    ok: true,
    turnId,
    threadId: thread.thread_id,
    workspaceId: thread.workspace_id,
    principal,
    lane,
    producer,
    ...(producer === 'subagent' && parentTurnId !== undefined ? { parentTurnId } : {}),
    event,
    repeated: false,
  };
}

function userMessage(
  turnId: string,
  { text, principal }: { readonly text: string; readonly principal: string },
): JournalEvent {
  return { kind: 'user_message', item_id: `user_${turnId}`, text, principal };
}
