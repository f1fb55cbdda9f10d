// The verbs that speak to a running daemon, as the command line declares them.
import type { Command } from 'commander';
import { ROOT_THREAD } from '../../shared/ids.js';
import type { Io } from './io.js';

type Choose = (act: () => Promise<number>) => void;

export function declareDaemonVerbs(program: Command, io: Io, choose: Choose): void {
  const verb = (name: string, description: string): Command =>
    program
      .command(name)
      .description(description)
      .option('--state-dir <dir>', 'state directory of the daemon (else store.path, else the state home)')
      .option('--json', 'print JSON');
  verb('send', 'send a message to a thread of the daemon')
    .argument('<text>', 'the message')
    .option('--thread <id>', `thread (default: "${ROOT_THREAD}")`)
    .option('--wait', 'print the reply as it is written, and exit as the turn ends')
    .action((text: string, _options, command: Command) =>
      choose(async () => (await import('./send.js')).runSend(io, { ...command.optsWithGlobals(), text })),
    );
  verb('ps', 'list the turns at work and in the queue').action((_options, command: Command) =>
    choose(async () => (await import('./ps.js')).runPs(io, command.optsWithGlobals())),
  );
  verb('kill', 'end a turn, with everything it started')
    .argument('<turn>', 'turn id')
    .option('--now', 'without grace: SIGKILL to its process group')
    .action((turn: string, _options, command: Command) =>
      choose(async () => (await import('./kill.js')).runKill(io, { ...command.optsWithGlobals(), turn })),
    );
  verb('status', 'how the daemon stands').action((_options, command: Command) =>
    choose(async () => (await import('./status.js')).runStatus(io, command.optsWithGlobals())),
  );
  for (const name of ['pause', 'resume'] as const)
    verb(name, name === 'pause' ? 'start no turn any more' : 'start turns again').action(
      (_options, command: Command) =>
        choose(async () => (await import('./status.js')).runHold(io, command.optsWithGlobals(), name)),
    );
  verb('drain', 'let turns finish, start none, and end the daemon').action((_options, command: Command) =>
    choose(async () => (await import('./status.js')).runDrain(io, command.optsWithGlobals())),
  );
  verb('threads', 'list the threads').action((_options, command: Command) =>
    choose(async () => (await import('./threads.js')).runThreads(io, command.optsWithGlobals())),
  );
  verb('questions', 'list what turns ask people').action((_options, command: Command) =>
    choose(async () => (await import('./questions.js')).runQuestions(io, command.optsWithGlobals())),
  );
  verb('answer', 'answer a question of a turn')
    .argument('<question>', 'question id')
    .argument('<text>', 'the answer')
    .action((question: string, text: string, _options, command: Command) =>
      choose(async () =>
        (await import('./questions.js')).runAnswer(io, { ...command.optsWithGlobals(), question, text }),
      ),
    );
}
