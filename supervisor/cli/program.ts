// The command line: which verbs and flags there are, and which file does what they say.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { nearest } from '../../config/nearest.js';
import { isId, ROOT_THREAD } from '../../shared/ids.js';
import { DIALECTS } from '../../shared/ipc/turn-snapshot.js';
import { EXIT } from '../exit-codes.js';
import type { LaunchedAhead } from '../processes/types.js';
import { VERSION } from '../version.js';
import { declareDaemonVerbs } from './daemon-verbs.js';
import { tellEarlyFailure, wantedFormat } from './early-failure.js';
import { type Io, writeAll } from './io.js';
import type { JobFlags } from './job-flags.js';

const JOB_EXAMPLES = `
Examples:
  turnd --prompt "Summarise this folder"
  git diff | turnd --prompt - --output json --deadline 5m
  turnd --prompt "Fix the failing test" --cwd ./service --steps 40 --state-dir ./.turnd
  turnd --prompt "And now?" --state-dir ./.turnd           continue the same thread
  turnd items turn_… --state-dir ./.turnd                  what the turn did, item by item

Exit codes: 0 completed, 1 failed, 2 usage or configuration, 3 loop detected, 4 model endpoint, 5 refused,
7 steps or tokens exhausted, 8 a call was refused and the job is not done, 9 state directory in use,
10 state damaged, newer or unusable, 124 deadline, 130 SIGINT, 143 SIGTERM.`;

type Act = () => Promise<number>;

/** Parses the arguments and runs the verb; resolves with the exit code. Usage errors are told on stderr with code 2. */
export async function runProgram(
  argv: readonly string[],
  io: Io,
  ahead: LaunchedAhead | null,
): Promise<number> {
  let act: Act | null = null;
  const choose = (chosen: Act): void => {
    act = chosen;
  };
  const program = new Command('turnd');
  program
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void io.stdout.write(text),
      writeErr: (text) => void io.stderr.write(text),
    })
    .showHelpAfterError('(turnd --help shows what there is)');
  declareJob(program, io, choose, ahead);
  declareServe(program, io, choose);
  declareConfig(program, io, choose);
  declareReaders(program, io, choose);
  declareDaemonVerbs(program, io, choose);
  // Told in our own words; set last, because the verbs would take it over and let their words pass in silence.
  program.allowExcessArguments();
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.ok;
    await tellEarlyFailure(io, wantedFormat(argv), { code: 'usage', message: error.message });
    return EXIT.usage;
  }
  const chosen = act as Act | null;
  if (chosen !== null) return chosen();
  program.outputHelp({ error: true });
  return EXIT.usage;
}

function declareJob(program: Command, io: Io, choose: (act: Act) => void, ahead: LaunchedAhead | null): void {
  program
    .description('An agent: one message in, one reply out, every turn in a process of its own.')
    .version(VERSION, '-V, --version')
    .option('-p, --prompt <text>', 'run one turn and exit; - reads the prompt from stdin')
    .option('--config <file>', 'configuration file (else $TURND_CONFIG, ./turnd.yaml, /etc/turnd/turnd.yaml)')
    .option('--state-dir <dir>', 'keep the state here (else a fresh directory for each job)')
    .option('--cwd <dir>', 'working folder of the turn')
    .option('--thread <id>', 'thread to continue', threadId, ROOT_THREAD)
    .option('--model <name>', 'model name')
    .option('--endpoint <url>', 'model server, with or without its /v1')
    .addOption(new Option('--dialect <name>', 'what the endpoint speaks').choices([...DIALECTS]))
    .addOption(
      new Option('--permission-mode <mode>', 'what runs without asking').choices([
        'full_access',
        'auto_accept_edits',
        'supervised',
      ]),
    )
    .addOption(
      new Option('--on-ask <how>', 'when a call needs a yes: refuse it, allow it, or ask on the terminal')
        .choices(['deny', 'allow', 'wait'])
        .default('deny'),
    )
    .option('--steps <n>', 'at most this many rounds')
    .option('--tokens <n>', 'at most this many tokens')
    .option('--deadline <time>', 'at most this long: 90s, 10m, 1h')
    .addOption(
      new Option('--output <format>', 'what stdout carries')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .option('--context-template', 'print the built-in prompt template and exit')
    .addHelpText('after', JOB_EXAMPLES)
    .action((options: JobFlags & { contextTemplate?: boolean }) => {
      if (program.args.length > 0) program.error(strayWords(program), { exitCode: EXIT.usage });
      if (options.contextTemplate) choose(() => printTemplate(io));
      else if (options.prompt !== undefined)
        choose(async () => (await import('./run-job.js')).runJob(io, options, ahead));
    });
}

function declareServe(program: Command, io: Io, choose: (act: Act) => void): void {
  program
    .command('serve')
    .description('run the daemon in the foreground; SIGTERM lets turns finish and ends it')
    .option('--config <file>', 'configuration file')
    .option('--state-dir <dir>', 'keep the state here (else store.path, else the state home)')
    .option('--cwd <dir>', 'root of the default workspace')
    .option('--listen <url>', 'where clients connect (else gateway.listen)')
    .action((_options, command: Command) =>
      choose(async () => (await import('./serve.js')).runServe(io, command.optsWithGlobals())),
    );
}

function declareConfig(program: Command, io: Io, choose: (act: Act) => void): void {
  const config = program.command('config').description('look at the configuration without running anything');
  const file = (command: Command): Command => command.option('--config <file>', 'configuration file');
  file(config.command('check'))
    .description('report every problem at once, with line and path')
    .action((_options, command: Command) =>
      choose(async () => (await import('./config-check.js')).runConfigCheck(io, command.optsWithGlobals())),
    );
  file(config.command('show'))
    .description('print the configuration in force, where each value comes from; secrets are not shown')
    .action((_options, command: Command) =>
      choose(async () => (await import('./config-show.js')).runConfigShow(io, command.optsWithGlobals())),
    );
  config
    .command('schema')
    .description('print the JSON Schema of the configuration')
    .action(() => choose(async () => (await import('./config-schema.js')).runConfigSchema(io)));
}

function declareReaders(program: Command, io: Io, choose: (act: Act) => void): void {
  program
    .command('show')
    .argument('[thread]', `thread id, as is --thread (default: "${ROOT_THREAD}")`)
    .description('print the turns of a thread')
    .option('--state-dir <dir>', 'state directory of the job (else store.path of the configuration)')
    .option('--json', 'one JSON line per turn')
    .action((thread: string | undefined, _options, command: Command) =>
      choose(async () => {
        const options = command.optsWithGlobals<{ thread: string }>();
        return (await import('./show.js')).runShow(io, { ...options, thread: thread ?? options.thread });
      }),
    );
  program
    .command('items')
    .argument('<turn>', 'turn id')
    .description('print everything a turn did, in order')
    .option('--state-dir <dir>', 'state directory of the job (else store.path of the configuration)')
    .option('--json', 'one JSON line per item')
    .action((turn: string, _options, command: Command) =>
      choose(async () => (await import('./items.js')).runItems(io, { ...command.optsWithGlobals(), turn })),
    );
}

/** Words that are no flag: a misspelt command, or a prompt without its flag or its quotes. */
function strayWords(program: Command): string {
  const [first = '', ...others] = program.args;
  const verbs = program.commands.map((command) => command.name());
  const hint = others.length === 0 ? nearest(first, verbs) : undefined;
  if (hint !== undefined) return `error: unknown command '${first}'\n(Did you mean ${hint}?)`;
  return `error: unexpected '${program.args.join(' ')}': a prompt is one quoted text, --prompt "…"; the commands are ${verbs.join(', ')}`;
}

async function printTemplate(io: Io): Promise<number> {
  const { BUILT_IN_TEMPLATE } = await import('../snapshot/prompt.js');
  await writeAll(io.stdout, BUILT_IN_TEMPLATE);
  return EXIT.ok;
}

function threadId(given: string): string {
  if (isId(given)) return given;
  throw new InvalidArgumentError('Expected a thread id: letters, digits, . _ : @ -');
}
