// `turnd --prompt`: one message in, one worker, one reply on stdout, one exit code that can be trusted.
import type { Config } from '../../config/schema.js';
import { systemClock } from '../../shared/clock.js';
import { TurndError } from '../../shared/errors.js';
import { newId } from '../../shared/ids.js';
import type { JobResult } from '../../shared/protocol/job-result.js';
import { composeSupervisor } from '../compose.js';
import { EXIT, jobExitCode } from '../exit-codes.js';
import { type ModelCatalogue, openCatalogue } from '../intelligence/model-catalogue.js';
import type { Logger } from '../observe/logger.js';
import type { LaunchedAhead, WarmPool } from '../processes/types.js';
import { makeWarmPool } from '../processes/warm-pool.js';
import { loadTemplate } from '../snapshot/load-template.js';
import type { Template } from '../snapshot/template.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';
import { makePeople, type People } from './ask-terminal.js';
import { tellEarlyFailure } from './early-failure.js';
import type { Io } from './io.js';
import { configOverrides, type JobFlags, namingFlag } from './job-flags.js';
import { jobOutput } from './job-output.js';
import { readPrompt } from './read-prompt.js';
import { watchSignals } from './signals.js';
import {
  type LoadedConfig,
  modelsOf,
  openLog,
  openState,
  poolLimits,
  readConfig,
  supervisorParts,
  workspaceOf,
} from './start-up.js';
import { jobStateDir } from './state-dir.js';

const clock = systemClock;
const OPERATOR = 'operator';

export async function runJob(io: Io, flags: JobFlags, ahead: LaunchedAhead | null): Promise<number> {
  try {
    return await playJob(io, flags, ahead);
  } catch (error) {
    // Thrown only before there is a turn; what fails within one is its result.
    if (error instanceof TurndError) await tellEarlyFailure(io, flags.output, error);
    throw error;
  }
}

async function playJob(io: Io, flags: JobFlags, ahead: LaunchedAhead | null): Promise<number> {
  const loaded = await readConfig(io, { ...flags, overrides: configOverrides(flags), naming: namingFlag });
  if (typeof loaded === 'string') {
    await tellEarlyFailure(io, flags.output, { code: 'invalid_config', message: loaded });
    return EXIT.usage;
  }
  const workspaceRoot = workspaceOf(flags.cwd, io);
  const prompt = await readPrompt(flags.prompt, io.stdin);
  const logger = await openLog(io, flags, loaded);
  const job = new Job({ io, flags, loaded, logger, workspaceRoot, ahead });
  try {
    return await job.run(prompt);
  } finally {
    await logger.flushed();
  }
}

interface TurnParts {
  readonly prompt: string;
  readonly pool: WarmPool;
  readonly store: Store;
  readonly template: Template;
  readonly people: People;
  readonly catalogue: ModelCatalogue;
}

interface JobParts {
  readonly io: Io;
  readonly flags: JobFlags;
  readonly loaded: LoadedConfig;
  readonly logger: Logger;
  readonly workspaceRoot: string;
  readonly ahead: LaunchedAhead | null;
}

class Job {
  readonly #parts: JobParts;
  readonly #config: Config;
  readonly #startedMs = clock.monotonic();

  constructor(parts: JobParts) {
    this.#parts = parts;
    this.#config = parts.loaded.config;
  }

  async run(prompt: string): Promise<number> {
    const { io, logger, flags, ahead } = this.#parts;
    const config = this.#config;
    const template = loadTemplate(config.context.template);
    const people = makePeople(flags.onAsk);
    // The worker starts while the state directory is opened and the model looked for: the two cost about the same.
    const pool = makeWarmPool({
      ...poolLimits(config),
      // One turn needs one worker; with `agent.warm_workers: 0` it is started when the turn is.
      spares: Math.min(config.agent.warm_workers, 1),
      ahead: config.agent.warm_workers > 0 ? ahead : null,
      replaceUsed: false,
    });
    pool.start();
    const resolving = openCatalogue(config, io.env, clock);
    const stateDir = jobStateDir(config.store.path, io.env, io.cwd, newId('instance', clock.now()).slice(9));
    let store: Store | null = null;
    try {
      store = await openState(io, logger, config, stateDir);
      const catalogue = await modelsOf(io, logger, config, resolving);
      return await this.#turn({ prompt, pool, store, template, people, catalogue });
    } finally {
      await pool.close();
      store?.close();
    }
  }

  async #turn(parts: TurnParts): Promise<number> {
    const { io, flags, loaded, logger, workspaceRoot } = this.#parts;
    const config = this.#config;
    const { store } = parts;
    const shared = await supervisorParts({ ...parts, loaded, logger, workspaceRoot });
    const story =
      flags.output === 'stream-json' ? (await import('./stream-json.js')).notificationLines : null;
    const output = jobOutput(flags.output, story, io, clock);
    const supervisor = composeSupervisor({
      ...shared,
      ...(flags.onAsk === 'wait' ? output.asking(parts.people) : parts.people),
      role: 'job',
    });
    // The first that is heard of is the job's own turn; what its subagents do is told by their results.
    let own: string | null = null;
    supervisor.subscribe((turnId, event) => {
      own ??= turnId;
      if (turnId === own) output.onLive(event);
    });
    const accepted = supervisor.accept({
      ...{ threadId: flags.thread, workspaceRoot, principal: OPERATOR },
      ...{ text: parts.prompt, producer: 'job' },
    });
    if (!accepted.ok) throw new TurndError(accepted.code, accepted.message);
    output.started(
      { workspace_id: accepted.workspaceId, thread_id: accepted.threadId, turn_id: accepted.turnId },
      config.security.default_mode,
    );
    const signals = watchSignals((second) => supervisor.requestEnd(accepted.turnId, 'cancel', second));
    const row = await supervisor.whenSettled(accepted.turnId);
    // Subagents that it left at work are ended with it; what they used belongs to the account.
    await supervisor.settledBelow(accepted.turnId);
    const report = this.#report(row, store, accepted.turnId);
    await output.finish(report);
    // The worker is on its way off; what the end would do is done meanwhile.
    store.checkpoint();
    await supervisor.close();
    signals.stop();
    const code = jobExitCode({
      status: report.status,
      errorCode: row.error_code,
      endRequested: row.end_requested,
      signal: signals.first(),
      refusedCalls: report.refused_calls.length,
    });
    logger.log('info', 'job.end', { turn_id: accepted.turnId, status: report.status, code });
    return code;
  }

  #report(row: TurnRow, store: Store, turnId: string): JobResult {
    const usage = store.usage.ofTree(turnId);
    const costMicros = store.usage.costOfTree(turnId);
    return {
      status: row.status ?? 'failed',
      reply: row.reply,
      ...(row.error_code === null
        ? {}
        : { error: { code: row.error_code, message: row.error_message ?? '' } }),
      usage: {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cached_tokens: usage.cached_tokens,
        ...(costMicros === null ? {} : { cost: costMicros / 1_000_000 }),
      },
      rounds: row.rounds,
      tool_calls: row.tool_calls,
      refused_calls: refusedCalls(store, turnId),
      turn_id: turnId,
      thread_id: row.thread_id,
      state_dir: store.dir,
      duration_ms: Math.round(clock.monotonic() - this.#startedMs),
    };
  }
}

/** Calls that needed a yes and did not get one. */
function refusedCalls(store: Store, turnId: string): JobResult['refused_calls'] {
  return store.events
    .ofTurn(turnId)
    .flatMap(({ event }) =>
      event.kind === 'tool_intent' && event.asked === true && event.verdict === 'deny'
        ? [{ call_id: event.call_id, tool: event.tool, reason: event.reason }]
        : [],
    );
}
