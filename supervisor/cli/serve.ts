// `turnd serve`: the daemon in the foreground. It takes up what an earlier one left, lets clients in, and runs until it
// is told to end: then what is at work may finish, and what cannot goes on at the next start.
import { systemClock as clock } from '../../shared/clock.js';
import { ROOT_THREAD } from '../../shared/ids.js';
import { composeSupervisor } from '../compose.js';
import { EXIT } from '../exit-codes.js';
import { startGateway } from '../gateway/start-gateway.js';
import { OPERATOR } from '../intake/door-rules.js';
import { type ModelCatalogue, openCatalogue } from '../intelligence/model-catalogue.js';
import type { Logger } from '../observe/logger.js';
import { makeWarmPool } from '../processes/warm-pool.js';
import { loadTemplate } from '../snapshot/load-template.js';
import type { Store } from '../store/types.js';
import type { Supervisor } from '../supervisor.js';
import { type Io, writeAll } from './io.js';
import { configOverrides, namingFlag } from './job-flags.js';
import { watchSignals } from './signals.js';
import {
  type LoadedConfig,
  modelsOf,
  type Opened,
  openLog,
  openState,
  poolLimits,
  readConfig,
  supervisorParts,
  workspaceOf,
} from './start-up.js';
import { daemonStateDir } from './state-dir.js';

export interface ServeFlags {
  readonly config?: string;
  readonly stateDir?: string;
  readonly cwd?: string;
  readonly listen?: string;
}

export async function runServe(io: Io, flags: ServeFlags): Promise<number> {
  const { config: file, stateDir, listen } = flags;
  const overrides = {
    ...configOverrides(stateDir === undefined ? {} : { stateDir }),
    ...(listen === undefined ? {} : { 'gateway.listen': listen }),
  };
  const loaded = await readConfig(io, {
    ...(file === undefined ? {} : { config: file }),
    overrides,
    naming: namingFlag,
  });
  if (typeof loaded === 'string') return EXIT.usage;
  const workspaceRoot = workspaceOf(flags.cwd, io);
  const logger = await openLog(io, flags, loaded);
  try {
    return await serveOn(io, loaded, logger, workspaceRoot);
  } finally {
    await logger.flushed();
  }
}

async function serveOn(io: Io, loaded: LoadedConfig, logger: Logger, workspaceRoot: string): Promise<number> {
  const { config } = loaded;
  const template = loadTemplate(config.context.template);
  const pool = makeWarmPool({
    ...poolLimits(config),
    spares: config.agent.warm_workers,
    replaceUsed: true,
  });
  pool.start();
  const resolving = openCatalogue(config, io.env, clock);
  let store: Store | null = null;
  try {
    store = await openState(io, logger, config, daemonStateDir(config.store.path, io.env, io.cwd));
    const catalogue = await modelsOf(io, logger, config, resolving);
    await new Daemon({ io, loaded, logger, store, pool, catalogue, template, workspaceRoot }).run();
    logger.log('info', 'serve.end');
    return EXIT.ok;
  } finally {
    await pool.close();
    store?.close();
  }
}

class Daemon {
  readonly #parts: Opened & { readonly io: Io };
  readonly #asked: Promise<void>;
  #ask: () => void = () => undefined;

  constructor(parts: Opened & { readonly io: Io }) {
    this.#parts = parts;
    this.#asked = new Promise((resolve) => {
      this.#ask = resolve;
    });
  }

  /** Resolves when it has drained and nobody is connected any more. */
  async run(): Promise<void> {
    const { io, loaded, logger, store, catalogue, workspaceRoot } = this.#parts;
    const { config } = loaded;
    const supervisor = composeSupervisor({
      ...(await supervisorParts(this.#parts)),
      // Nobody is asked for a yes: a call that needs one is refused, and its model told so.
      ask: () => Promise.resolve('nobody'),
      role: 'daemon',
      exitAsked: () => this.#ask(),
    });
    const signals = watchSignals((second) => {
      this.#ask();
      if (second) void supervisor.drain(true);
    });
    const drained = this.#asked.then(() => {
      logger.log('info', 'serve.drain', { timeout_ms: config.lifecycle.drain_timeout_ms });
      return supervisor.drain();
    });
    supervisor.open();
    const gateway = await startGateway({
      ...{ supervisor, store, config, logger, clock, workspaceRoot },
      model: namesOf(catalogue),
      drain: () => {
        this.#ask();
        return drained;
      },
    }).catch(async (error: unknown) => {
      await supervisor.close();
      throw error;
    });
    await writeAll(io.stderr, `turnd: listening on ${gateway.url}, state in ${store.dir}\n`);
    this.#startPrompt(supervisor);
    await drained;
    await gateway.close();
    signals.stop();
  }

  /** Once at each start, unless the one of an earlier start is not answered yet. */
  #startPrompt(supervisor: Supervisor): void {
    const { loaded, store, workspaceRoot } = this.#parts;
    const { prompt: text } = loaded.config.agent;
    if (text === null || store.inbox.pending().some(({ producer }) => producer === 'prompt')) return;
    // A refusal is logged where it is made; the daemon serves all the same.
    supervisor.accept({
      threadId: ROOT_THREAD,
      workspaceRoot,
      principal: OPERATOR,
      text,
      producer: 'prompt',
    });
  }
}

function namesOf(catalogue: ModelCatalogue): { name: string; provider: string; others: readonly string[] } {
  const { name, settings } = catalogue.turn;
  return { name, provider: settings.dialect, others: catalogue.routes.map((route) => route.name) };
}
