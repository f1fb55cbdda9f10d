// `turnd kill`: ends a turn of the daemon, with everything that it started, and says how it ended.
import { EXIT } from '../exit-codes.js';
import { print, type VerbArgs, type VerbIo, withDaemon } from './daemon-client.js';
import { writeAll } from './io.js';

export interface KillArgs extends VerbArgs {
  readonly turn: string;
  readonly now?: boolean;
}

export function runKill(io: VerbIo, args: KillArgs): Promise<number> {
  return withDaemon(io, args, async (client) => {
    const ended = await client.call('operator/kill', { turn_id: args.turn, now: args.now === true });
    if (ended.killed || args.json === true)
      return print(io, args, ended, `${ended.turn_id} ended: ${ended.outcome}\n`);
    await writeAll(io.stderr, `turnd: ${ended.turn_id} had ended before: ${ended.outcome}\n`);
    return EXIT.failed;
  });
}
