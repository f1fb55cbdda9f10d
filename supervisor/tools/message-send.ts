// `message.send`: what it writes to the other thread is part of the transaction that records the call, so a message is
// sent exactly when the transcript says so. It goes on behalf of whoever the sending turn works for.
import type * as v from 'valibot';
import { ROOT_THREAD } from '../../shared/ids.js';
import type { messageSendParams } from '../../shared/tools/message-tools.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import { durationMs } from '../../shared/tools/waiting-tools.js';
import type { WaitContext, WaitingTool } from './waiting-tool.js';

export interface Letter {
  readonly threadId: string;
  readonly workspaceId: string;
  readonly fromThreadId: string;
  readonly principal: string;
  readonly text: string;
  readonly hop: number;
}

/** What became of a letter. `turnId` is null where it stays a note for the next turn of its thread. */
export type Posted =
  | { readonly ok: true; readonly turnId: string | null; readonly runs: 'now' | 'in_a_daemon' }
  | { readonly ok: false; readonly code: string; readonly message: string };

/** Both inside the transaction of the caller. */
export interface PostOffice {
  post(letter: Letter): Posted;
  /** `dueAtMs` is wall time. */
  postLater(letter: Letter, dueAtMs: number): Posted;
}

export function messageSendTool(office: PostOffice): WaitingTool {
  return {
    begin: (args, context) => send(office, args as v.InferOutput<typeof messageSendParams>, context),
    // It has its answer at once: nothing is ever waited for.
    arm: () => () => undefined,
  };
}

function send(
  office: PostOffice,
  { to, text, after, at }: v.InferOutput<typeof messageSendParams>,
  context: WaitContext,
): ToolResult {
  const { store, nowMs, threadId, turnId, newId } = context;
  const own = store.threads.get(threadId);
  const inbox = store.inbox.ofTurn(turnId);
  if (own === undefined || inbox === undefined) throw new TypeError(`turn ${turnId} has no message`);
  if (to === threadId)
    return toolError(
      'a turn cannot write to its own thread; say it in the answer, or use sleep to go on later',
    );
  const target = store.threads.get(to);
  if (target === undefined && to !== ROOT_THREAD && to !== 'new')
    return toolError(`there is no thread ${to}; use root, new, or the id of a thread`);
  const letter: Letter = {
    threadId: to === 'new' ? newId('thread', nowMs) : to,
    workspaceId: target?.workspace_id ?? own.workspace_id,
    fromThreadId: threadId,
    principal: inbox.principal,
    text,
    hop: inbox.hop + 1,
  };
  const dueAtMs = at === undefined ? nowMs + (durationMs(after ?? '0s') ?? 0) : Date.parse(at);
  const later = dueAtMs > nowMs;
  const posted = later ? office.postLater(letter, dueAtMs) : office.post(letter);
  if (!posted.ok) return toolError(posted.message, { code: posted.code });
  return {
    content: {
      ok: true,
      thread_id: letter.threadId,
      ...(later ? { deliver_at: new Date(dueAtMs).toISOString() } : {}),
      ...(posted.turnId === null ? {} : { turn_id: posted.turnId }),
      ...(posted.turnId === null && !later ? { note: 'the next turn of that thread reads it' } : {}),
      ...(posted.runs === 'now'
        ? {}
        : { note: 'this is a job: the message waits in its state directory until a daemon serves that' }),
    },
    is_error: false,
  };
}
