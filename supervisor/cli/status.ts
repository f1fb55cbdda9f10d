// `turnd status`, and the verbs that change how the daemon stands: pause, resume, drain. Each prints the state after it.
import type { DaemonStatus } from '../../shared/protocol/operator.js';
import { print, type VerbArgs, type VerbIo, withDaemon } from './daemon-client.js';
import { age, megabytes } from './ps.js';
import { terminalText } from './terminal-text.js';

export function runStatus(io: VerbIo, args: VerbArgs): Promise<number> {
  return withDaemon(io, args, async (client) => {
    const status = await client.call('operator/status', {});
    return print(io, args, status, statusText(status));
  });
}

export function runHold(io: VerbIo, args: VerbArgs, verb: 'pause' | 'resume'): Promise<number> {
  return withDaemon(io, args, async (client) => {
    const status = await client.call(`operator/${verb}`, {});
    return print(io, args, status, `${status.state}\n`);
  });
}

/** Over when the daemon is gone: its turns are done, or wait for the next start. */
export function runDrain(io: VerbIo, args: VerbArgs): Promise<number> {
  return withDaemon(io, args, async (client) => {
    const status = await client.call('operator/drain', {});
    await client.closed;
    return print(io, args, { ...status, state: 'drained' }, 'drained\n');
  });
}

function statusText(status: DaemonStatus): string {
  const { running, queued, parked } = status.turns;
  const lines = [
    ['state', [status.state, ...status.holds].join('; ')],
    ['turns', `${running} running, ${queued} queued, ${parked} parked`],
    ['questions', String(status.questions)],
    ['model', status.model],
    ['folder', status.workspace_root],
    ['state in', status.state_dir],
    ['clients', String(status.connections)],
    ['process', `${status.pid}, up ${age(status.uptime_ms)}, ${megabytes(status.memory_bytes)}`],
    ['version', status.version],
  ];
  return lines.map(([name = '', value = '']) => `${name.padEnd(10)} ${terminalText(value)}\n`).join('');
}
