// `turnd ps`: the turns that the daemon works on, or that wait.
import type { LiveTurn } from '../../shared/protocol/operator.js';
import { columns } from './columns.js';
import { print, type VerbArgs, type VerbIo, withDaemon } from './daemon-client.js';

const HEAD = ['TURN', 'THREAD', 'STATE', 'PID', 'PGID', 'AGE', 'ROUND', 'TOOL', 'TOKENS', 'MEMORY'];

export function runPs(io: VerbIo, args: VerbArgs): Promise<number> {
  return withDaemon(io, args, async (client) => {
    const { turns } = await client.call('operator/turns', {});
    return print(io, args, { turns }, columns([HEAD, ...turns.map(cells)]));
  });
}

function cells(turn: LiveTurn): string[] {
  return [
    turn.turn_id,
    turn.thread_id,
    turn.state,
    String(turn.pid ?? '-'),
    String(turn.pgid ?? '-'),
    age(turn.age_ms),
    String(turn.round),
    turn.tool ?? '-',
    String(turn.tokens),
    turn.memory_bytes == null ? '-' : megabytes(turn.memory_bytes),
  ];
}

export function age(ms: number): string {
  const seconds = Math.floor(ms / 1_000);
  if (seconds < 60) return `${seconds}s`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)}m${seconds % 60}s`;
  const hours = Math.floor(seconds / 3_600);
  return hours < 48 ? `${hours}h${Math.floor((seconds % 3_600) / 60)}m` : `${Math.floor(hours / 24)}d`;
}

export function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)}MB`;
}
