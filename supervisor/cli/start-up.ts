// What a job and a daemon do alike before there is a turn: read the configuration, open the state, look for the models,
// put the supervisor together. What goes wrong here is told in one sentence and an exit code.
import { realpathSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Loaded, loadConfig } from '../../config/load.js';
import { formatProblem, type Problem } from '../../config/problem.js';
import type { Config } from '../../config/schema.js';
import { systemClock as clock } from '../../shared/clock.js';
import { TurndError } from '../../shared/errors.js';
import { makeMasker } from '../../shared/mask.js';
import { costProblem } from '../budgets/prices.js';
import type { Catalogued, ModelCatalogue } from '../intelligence/model-catalogue.js';
import { type Logger, makeLogger } from '../observe/logger.js';
import { containmentLayers } from '../processes/containment.js';
import type { WarmPool, WarmPoolOptions } from '../processes/types.js';
import { recoverStore } from '../recover-store.js';
import { openStore } from '../store/open.js';
import type { Store } from '../store/types.js';
import type { SupervisorParts } from '../supervisor.js';
import { type Io, writeAll } from './io.js';

export type LoadedConfig = Extract<Loaded, { ok: true }>;

interface ConfigFlags {
  readonly config?: string;
  readonly overrides: Record<string, string>;
  /** Names the flag of a problem as it was typed. */
  naming(problem: Problem): Problem;
}

/** The configuration, or all its problems in words, which have been told on stderr. */
export async function readConfig(io: Io, flags: ConfigFlags): Promise<LoadedConfig | string> {
  const loaded = await loadConfig({
    env: io.env,
    cwd: io.cwd,
    flags: flags.overrides,
    ...(flags.config === undefined ? {} : { file: flags.config }),
  });
  if (loaded.ok) return loaded;
  const problems = loaded.problems.map((problem) => formatProblem(flags.naming(problem))).join('\n');
  await writeAll(io.stderr, `${problems}\n`);
  return problems;
}

/** Says which file was found, where none was named, and what is odd about it. */
export async function openLog(
  io: Io,
  flags: { readonly config?: string },
  loaded: LoadedConfig,
): Promise<Logger> {
  const logger = makeLogger(loaded.config.observability.log_level);
  logger.log('debug', 'config.loaded', { file: loaded.file });
  const named = flags.config ?? io.env['TURND_CONFIG'];
  if (loaded.file !== null && !named) await writeAll(io.stderr, `turnd: configuration from ${loaded.file}\n`);
  for (const warning of loaded.warnings)
    await writeAll(io.stderr, `turnd: warning: ${formatProblem(warning)}\n`);
  return logger;
}

/** The working folder, resolved. */
export function workspaceOf(cwd: string | undefined, io: Io): string {
  const wanted = resolve(io.cwd, cwd ?? '.');
  try {
    if (statSync(wanted).isDirectory()) return realpathSync(wanted);
  } catch {
    // Told below, in the same words as for a file.
  }
  throw new TurndError('usage', `--cwd ${wanted}: there is no such folder`);
}

export function poolLimits({
  limits,
}: Config): Pick<WarmPoolOptions, 'clock' | 'cancelGraceMs' | 'killGraceMs' | 'progressMs' | 'pongMs'> {
  return {
    clock,
    cancelGraceMs: limits.cancel_grace_ms,
    killGraceMs: limits.kill_grace_ms,
    progressMs: limits.progress_ms,
    pongMs: limits.pong_ms,
  };
}

/** Throws what the exit code of the command says. */
export async function openState(io: Io, logger: Logger, config: Config, dir: string): Promise<Store> {
  const opened = openStore({ dir, on_damage: config.store.on_damage, nowMs: clock.now() });
  if (!opened.ok) {
    const code = {
      in_use: 'state_in_use',
      newer: 'state_newer',
      damaged: 'state_damaged',
      unusable: 'state_damaged',
    } as const;
    throw new TurndError(code[opened.failure.kind], opened.failure.message);
  }
  logger.log('debug', 'store.opened', { dir });
  if (opened.notice !== null) {
    await writeAll(io.stderr, `turnd: ${opened.notice}\n`);
    logger.log('warn', 'store.salvaged', { notice: opened.notice });
  }
  return opened.store;
}

/** The models, once they are resolved and priced, with a word on what was chosen for the person. */
export async function modelsOf(
  io: Io,
  logger: Logger,
  config: Config,
  resolving: Promise<Catalogued>,
): Promise<ModelCatalogue> {
  const resolution = await resolving;
  if (!resolution.ok) throw new TurndError('invalid_config', resolution.message);
  const { catalogue } = resolution;
  const { notice, settings } = catalogue.turn;
  if (notice !== null) await writeAll(io.stderr, `turnd: ${notice}\n`);
  logger.log('info', 'model.chosen', { dialect: settings.dialect, model: settings.model, url: settings.url });
  for (const model of catalogue.models) {
    const unpriced = costProblem(config, model);
    if (unpriced !== null) throw new TurndError('invalid_config', unpriced);
  }
  return catalogue;
}

export interface Opened {
  readonly loaded: LoadedConfig;
  readonly logger: Logger;
  readonly store: Store;
  readonly pool: WarmPool;
  readonly catalogue: ModelCatalogue;
  readonly template: SupervisorParts['template'];
  readonly workspaceRoot: string;
}

/** Brings the store to a true state; what is left to name is who asks, and whether it is a job. */
export async function supervisorParts(
  opened: Opened,
): Promise<Omit<SupervisorParts, 'role' | 'ask' | 'audience' | 'exitAsked'>> {
  const { loaded, logger, store, catalogue } = opened;
  const { config } = loaded;
  await recoverStore(store, config, clock, logger);
  const secrets = [...loaded.secrets.values, ...catalogue.secrets];
  const masker = makeMasker(secrets);
  logger.mask(masker);
  const { pool, template, workspaceRoot } = opened;
  return {
    ...{ config, clock, store, pool, logger, masker, catalogue, secrets, template, workspaceRoot },
    security: {
      mode: config.security.default_mode,
      source: sourceOf(loaded.sources.get('security.default_mode')),
      containment: containmentLayers(),
      web_allow_private: [...config.security.web.allow_private],
    },
  };
}

function sourceOf(source: string | undefined): 'default' | 'config' | 'flag' {
  if (source === 'flag') return 'flag';
  return source === 'file' || source === 'env' ? 'config' : 'default';
}
