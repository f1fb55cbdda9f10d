// `turn/*`: a message becomes a turn, durably and once; a cancel is written down before it is answered.

import type { TurnStartParams } from '../../shared/protocol/turn.js';
import type { TurnItemEvent } from '../../shared/protocol/turn-event.js';
import type { TurnRow } from '../store/rows.js';
import { type Call, type HandlerParts, type HandlersOf, Refused } from './ports.js';
import { replay } from './replay.js';
import { deliveryName, messageText, optionsOf } from './start-params.js';
import { mustBeId, openTurns, threadRow, turnOf, turnRow } from './views.js';

type Names = 'turn/start' | 'turn/cancel' | 'turn/get' | 'turn/items';

export function turnHandlers(parts: HandlerParts): HandlersOf<Names> {
  const { engine, store } = parts;
  return {
    'turn/start': (params, call) => ({ turn: turnOf(startTurn(parts, params, call), parts) }),
    'turn/cancel': async (params, call) => {
      const { turn, workspaceId } = turnRow(parts, params);
      // What the end causes is told first, as for everybody; the answer comes when the worker is gone.
      call.release();
      const asked = engine.requestEnd(turn.turn_id, 'cancel');
      const row = asked || turn.state !== 'ended' ? await engine.whenSettled(turn.turn_id) : turn;
      return { thread_id: row.thread_id, workspace_id: workspaceId, turn: turnOf(row, parts) };
    },
    'turn/get': (params) => {
      const { turn, workspaceId } = turnRow(parts, params);
      return { thread_id: turn.thread_id, workspace_id: workspaceId, turn: turnOf(turn, parts) };
    },
    'turn/items': (params) => {
      const { turn, workspaceId } = turnRow(parts, params);
      const after = params.after_sequence ?? 0;
      const all = replay({ store, defaultMode: parts.defaultMode }, turn, workspaceId).filter(isItemEvent);
      return {
        thread_id: turn.thread_id,
        workspace_id: workspaceId,
        turn_id: turn.turn_id,
        events: all.filter(({ sequence }) => sequence > after),
        last_sequence: all.at(-1)?.sequence ?? 0,
      };
    },
  };
}

const ITEM_PAYLOADS = new Set<string>([
  'itemStarted',
  'itemCompleted',
  'turnExecutionWindowStarted',
] satisfies TurnItemEvent['payload']['type'][]);

/** What begins and ends a turn is no event of an item; `turn/get` and `thread/history` tell it. */
function isItemEvent(event: ReturnType<typeof replay>[number]): event is TurnItemEvent {
  return ITEM_PAYLOADS.has(event.payload.type);
}

function startTurn(parts: HandlerParts, params: TurnStartParams, call: Call): TurnRow {
  const { engine, store } = parts;
  const { thread_id: threadId, turn_id: turnId } = params;
  const thread = threadRow(parts, threadId);
  mustBeId('turn_id', turnId);
  const eventId = deliveryName(params, call.principal);
  const known = store.inbox.ofTurn(turnId);
  if (known === undefined) mustBeFree(parts, threadId);
  else if (known.event_id !== eventId)
    throw new Refused('turn_id_conflict', `turn ${turnId} already exists, and began with another request`);
  const options = optionsOf(params, parts.model, thread.mode);
  const text = messageText(params.input);
  call.subscribe(threadId);
  const accepted = engine.accept({
    threadId,
    turnId,
    eventId,
    workspaceRoot: store.workspaces.get(thread.workspace_id)?.root ?? parts.workspaceRoot,
    principal: call.principal,
    producer: 'client',
    text,
    options,
  });
  if (!accepted.ok) throw new Refused(accepted.code, accepted.message);
  return turnRow(parts, params).turn;
}

function mustBeFree({ store, onBusyThread }: HandlerParts, threadId: string): void {
  if (onBusyThread !== 'reject') return;
  if (openTurns(store, threadId).length > 0)
    throw new Refused('thread_busy', `thread ${threadId} already has a running turn`);
}
