// `turnd send`: one message to a thread of the running daemon. Without --wait it is over when the message is accepted; with
// it the reply is printed as it is written, and the exit code is that of the turn.

import type { Client } from '../../shared/client/client.js';
import { systemClock } from '../../shared/clock.js';
import { newId } from '../../shared/ids.js';
import type { Notification } from '../../shared/protocol/notifications.js';
import type { Turn } from '../../shared/protocol/turn.js';
import { jobExitCode } from '../exit-codes.js';
import { print, type VerbArgs, type VerbIo, withDaemon } from './daemon-client.js';
import { writeAll } from './io.js';
import { terminalText } from './terminal-text.js';

export interface SendArgs extends VerbArgs {
  readonly thread: string;
  readonly wait?: boolean;
  readonly text: string;
}

export function runSend(io: VerbIo, args: SendArgs): Promise<number> {
  return withDaemon(io, args, async (client) => {
    const { workspace } = await client.call('workspace/default', {});
    const workspaceId = await homeOf(client, args.thread, workspace.id);
    const turnId = newId('turn', systemClock.now());
    const reply = args.wait === true ? followReply(io, client, turnId, args.json === true) : null;
    await client.call('thread/start', { thread_id: args.thread, workspace_id: workspaceId });
    await client.call('turn/start', {
      thread_id: args.thread,
      turn_id: turnId,
      input: [{ type: 'text', text: args.text }],
    });
    if (reply === null) return print(io, args, { turn_id: turnId, thread_id: args.thread }, `${turnId}\n`);
    const turn = await Promise.race([reply, client.closed.then((lost) => Promise.reject(lost))]);
    if (args.json === true)
      await writeAll(io.stdout, `${JSON.stringify({ thread_id: args.thread, turn })}\n`);
    if (turn.error != null)
      await writeAll(io.stderr, `turnd: ${turn.outcome}: ${terminalText(turn.error)}\n`);
    return jobExitCode({
      status: turn.outcome ?? 'failed',
      errorCode: turn.error_code ?? null,
      endRequested: null,
      signal: null,
      refusedCalls: 0,
    });
  });
}

/** A thread that exists may belong to another folder than the one that the daemon runs in. */
async function homeOf(client: Client, threadId: string, otherwise: string): Promise<string> {
  try {
    return (await client.call('thread/get', { thread_id: threadId })).thread.workspace_id;
  } catch (error) {
    if ((error as { readonly code?: string }).code === 'thread_not_found') return otherwise;
    throw error;
  }
}

/** Prints answers as they come, each from a line of its own; resolves with the turn when it has ended. */
function followReply(io: VerbIo, client: Client, turnId: string, quiet: boolean): Promise<Turn> {
  const write = (text: string): void => {
    if (!quiet) io.stdout.write(text);
  };
  const printed = new Map<string, string>();
  return new Promise((resolve) => {
    client.onNotification((notification: Notification) => {
      const { method, params } = notification;
      if (method === 'item/agent_message/delta' && params.turn_id === turnId) {
        write(params.delta);
        printed.set(params.item_id, (printed.get(params.item_id) ?? '') + params.delta);
      }
      if (method === 'item/completed' && params.turn_id === turnId && params.item.type === 'agentMessage') {
        const { id, text } = params.item;
        // What was told live can be less than the whole, and never more.
        const rest = text.slice((printed.get(id) ?? '').length);
        write(text.endsWith('\n') ? rest : `${rest}\n`);
      }
      if (method === 'turn/completed' || method === 'turn/failed' || method === 'turn/blocked')
        if (params.turn.id === turnId) resolve(params.turn);
    });
  });
}
