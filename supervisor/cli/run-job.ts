// `turnd --prompt`: one message in, one worker, one reply on stdout, one exit code that can be trusted.
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Loaded, loadConfig } from '../../config/load.js';
import { formatProblem } from '../../config/problem.js';
import type { Config } from '../../config/schema.js';
import { systemClock } from '../../shared/clock.js';
import { TurndError } from '../../shared/errors.js';
import { newId } from '../../shared/ids.js';
import { makeMasker } from '../../shared/mask.js';
import type { JobResult } from '../../shared/protocol/job-result.js';
import { costProblem } from '../budgets/prices.js';
import { composeSupervisor, recoverStore } from '../compose.js';
import { EXIT, jobExitCode } from '../exit-codes.js';
import { type ModelCatalogue, openCatalogue } from '../intelligence/model-catalogue.js';
import { type Logger, makeLogger } from '../observe/logger.js';
import { containmentLayers } from '../processes/containment.js';
import type { LaunchedAhead, WarmPool } from '../processes/types.js';
import { makeWarmPool } from '../processes/warm-pool.js';
import { loadTemplate } from '../snapshot/load-template.js';
import type { Template } from '../snapshot/template.js';
import { openStore } from '../store/open.js';
import type { Store, TurnRow } from '../store/types.js';
import { makePeople, type People } from './ask-terminal.js';
import { tellEarlyFailure } from './early-failure.js';
import { type Io, writeAll } from './io.js';
import { configOverrides, type JobFlags, namingFlag } from './job-flags.js';
import { jobOutput } from './job-output.js';
import { readPrompt } from './read-prompt.js';
import { watchSignals } from './signals.js';
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
  const loaded = await loadConfig({
    env: io.env,
    cwd: io.cwd,
    flags: configOverrides(flags),
    ...(flags.config === undefined ? {} : { file: flags.config }),
  });
  if (!loaded.ok) {
    const problems = loaded.problems.map((problem) => formatProblem(namingFlag(problem))).join('\n');
    await writeAll(io.stderr, `${problems}\n`);
    await tellEarlyFailure(io, flags.output, { code: 'invalid_config', message: problems });
    return EXIT.usage;
  }
  const workspaceRoot = workspaceOf(flags, io);
  const prompt = await readPrompt(flags.prompt, io.stdin);
  const logger = makeLogger(loaded.config.observability.log_level);
  logger.log('debug', 'config.loaded', { file: loaded.file });
  const named = flags.config ?? io.env['TURND_CONFIG'];
  if (loaded.file !== null && !named) await writeAll(io.stderr, `turnd: configuration from ${loaded.file}\n`);
  for (const warning of loaded.warnings)
    await writeAll(io.stderr, `turnd: warning: ${formatProblem(warning)}\n`);
  const job = new Job({ io, flags, loaded, logger, workspaceRoot, ahead });
  try {
    return await job.run(prompt);
  } finally {
    await logger.flushed();
  }
}

function workspaceOf(flags: JobFlags, io: Io): string {
  const wanted = resolve(io.cwd, flags.cwd ?? '.');
  try {
    if (statSync(wanted).isDirectory()) return realpathSync(wanted);
  } catch {
    // Told below, in the same words as for a file.
  }
  throw new TurndError('usage', `--cwd ${wanted}: there is no such folder`);
}

interface TurnParts {
  readonly prompt: string;
  readonly pool: WarmPool;
  readonly store: Store;
  readonly template: Template;
  readonly people: People;
  readonly catalogue: ModelCatalogue;
}

type LoadedConfig = Extract<Loaded, { ok: true }>;

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
      // One turn needs one worker; with `agent.warm_workers: 0` it is started when the turn is.
      spares: Math.min(config.agent.warm_workers, 1),
      ahead: config.agent.warm_workers > 0 ? ahead : null,
      replaceUsed: false,
      clock,
      cancelGraceMs: config.limits.cancel_grace_ms,
      killGraceMs: config.limits.kill_grace_ms,
      progressMs: config.limits.progress_ms,
      pongMs: config.limits.pong_ms,
    });
    pool.start();
    const resolving = openCatalogue(config, io.env, clock);
    const stateDir = jobStateDir(config.store.path, io.env, io.cwd, newId('instance', clock.now()).slice(9));
    const opened = openStore({ dir: stateDir, on_damage: config.store.on_damage, nowMs: clock.now() });
    if (!opened.ok) {
      await pool.close();
      const code = {
        in_use: 'state_in_use',
        newer: 'state_newer',
        damaged: 'state_damaged',
        unusable: 'state_damaged',
      } as const;
      throw new TurndError(code[opened.failure.kind], opened.failure.message);
    }
    try {
      logger.log('debug', 'store.opened', { dir: stateDir });
      if (opened.notice !== null) {
        await writeAll(io.stderr, `turnd: ${opened.notice}\n`);
        logger.log('warn', 'store.salvaged', { notice: opened.notice });
      }
      const resolution = await resolving;
      if (!resolution.ok) throw new TurndError('invalid_config', resolution.message);
      const { catalogue } = resolution;
      const { notice, settings } = catalogue.turn;
      if (notice !== null) await writeAll(io.stderr, `turnd: ${notice}\n`);
      logger.log('info', 'model.chosen', {
        dialect: settings.dialect,
        model: settings.model,
        url: settings.url,
      });
      for (const model of catalogue.models) {
        const unpriced = costProblem(config, model);
        if (unpriced !== null) throw new TurndError('invalid_config', unpriced);
      }
      await recoverStore(opened.store, config, clock, logger);
      return await this.#turn({ prompt, pool, store: opened.store, template, people, catalogue });
    } finally {
      await pool.close();
      opened.store.close();
    }
  }

  async #turn(parts: TurnParts): Promise<number> {
    const { io, flags, loaded, logger, workspaceRoot } = this.#parts;
    const config = this.#config;
    const { store, pool, catalogue } = parts;
    const secrets = [...loaded.secrets.values, ...catalogue.secrets];
    const masker = makeMasker(secrets);
    logger.mask(masker);
    const story =
      flags.output === 'stream-json' ? (await import('./stream-json.js')).notificationLines : null;
    const output = jobOutput(flags.output, story, io, clock);
    const supervisor = composeSupervisor({
      config,
      clock,
      store,
      pool,
      logger,
      masker,
      model: catalogue.turn,
      secrets,
      template: parts.template,
      workspaceRoot,
      ...(flags.onAsk === 'wait' ? output.asking(parts.people) : parts.people),
      role: 'job',
      security: {
        mode: config.security.default_mode,
        source: sourceOf(loaded.sources.get('security.default_mode')),
        containment: containmentLayers(),
        web_allow_private: [...config.security.web.allow_private],
      },
    });
    supervisor.subscribe((_turnId, event) => output.onLive(event));
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
    const usage = store.usage.ofTurn(turnId);
    const costMicros = store.usage.costOf(turnId);
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

function sourceOf(source: string | undefined): 'default' | 'config' | 'flag' {
  if (source === 'flag') return 'flag';
  return source === 'file' || source === 'env' ? 'config' : 'default';
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
