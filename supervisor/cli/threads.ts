// `turnd threads`: the conversations of all workspaces of the daemon.
import type { Client } from '../../shared/client/client.js';
import type { Thread } from '../../shared/protocol/thread.js';
import { columns } from './columns.js';
import { print, type VerbArgs, type VerbIo, withDaemon } from './daemon-client.js';
import { time } from './stored-turns.js';

const PREVIEW = 60;

export function runThreads(io: VerbIo, args: VerbArgs): Promise<number> {
  return withDaemon(io, args, async (client) => {
    const threads = await allThreads(client);
    const lines = threads.map((thread) => [
      thread.id,
      thread.status,
      time(thread.updated_at * 1_000),
      [...(thread.name ?? thread.preview)].slice(0, PREVIEW).join(''),
    ]);
    return print(io, args, { threads }, columns([['THREAD', 'STATUS', 'LAST', 'ABOUT'], ...lines]));
  });
}

async function allThreads(client: Client): Promise<Thread[]> {
  const { workspaces } = await client.call('workspace/list', {});
  const trees = await Promise.all(
    workspaces.map(({ id }) => client.call('thread/tree', { workspace_id: id })),
  );
  return trees.flatMap(({ threads }) => threads);
}
