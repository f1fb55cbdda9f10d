// Builds a supervisor out of its parts and hands them their dependencies: the only place that knows them all.
import type { Config } from '../config/schema.js';
import type { Clock } from '../shared/clock.js';
import type { ModelSettings, SecuritySnapshot, TurnSnapshot } from '../shared/ipc/turn-snapshot.js';
import type { Masker } from '../shared/mask.js';
import { ANSWER_ALLOWANCE, estimateRequest } from '../shared/transcript/estimate-tokens.js';
import { Governor } from './budgets/governor.js';
import { makeFolding } from './context/folding.js';
import type { Waiting } from './dispatch/gate.js';
import { recordedProcesses, recover } from './dispatch/recover.js';
import { makeScheduler, type Scheduler } from './dispatch/scheduler.js';
import { estimateOf } from './dispatch/turn-budget.js';
import type { RunnerEvent } from './dispatch/turn-evidence.js';
import { type Accepted, acceptMessage, type IncomingMessage } from './intake/accept-message.js';
import { windowByName } from './intelligence/model-window.js';
import type { ResolvedModel } from './intelligence/resolve-model.js';
import type { LogLevel } from './observe/log-events.js';
import type { Logger } from './observe/logger.js';
import { endOrphans } from './processes/orphans.js';
import type { WarmPool } from './processes/types.js';
import { buildSnapshot, snapshotHash } from './snapshot/build-snapshot.js';
import { dropOldSpools } from './snapshot/spool.js';
import type { Template } from './snapshot/template.js';
import { threadView } from './snapshot/transcript-slice.js';
import type { Store } from './store/types.js';
import type { Ask, LiveListener } from './tools/running-turn.js';

export interface SupervisorParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly store: Store;
  readonly pool: WarmPool;
  readonly logger: Logger;
  readonly masker: Masker;
  readonly model: ResolvedModel;
  /** Every known secret value, for the worker to mask. */
  readonly secrets: readonly string[];
  readonly template: Template;
  readonly security: SecuritySnapshot;
  readonly workspaceRoot: string;
  readonly ask: Ask;
  readonly live: LiveListener;
}

export interface Supervisor extends Omit<Scheduler, 'wake'> {
  /** Durable when it returns; the turn starts as soon as the gate lets it. */
  accept(message: Omit<IncomingMessage, 'workspaceRoot'>): Accepted;
}

/** A wait, for the model or for the budget, is told to everybody: nothing seems to happen meanwhile. */
const LEVELS: Readonly<Record<RunnerEvent, LogLevel>> = {
  'turn.settled': 'info',
  'turn.unrecorded': 'error',
  'worker.exit': 'debug',
  'model.retry': 'warn',
  'budget.wait': 'warn',
  'budget.stop': 'warn',
  'budget.degraded': 'warn',
};

export function composeSupervisor(parts: SupervisorParts): Supervisor {
  const { clock, config, logger, store } = parts;
  const omitted = new Set<string>(parts.model.settings.omit);
  const settings = (): ModelSettings => ({ ...parts.model.settings, omit: [...omitted] });
  const governor = new Governor(store, config.intelligence);
  const folding = makeFolding({
    store,
    clock,
    config,
    thinker: null,
    view: (query) => threadView(store, query),
    settings,
    windowOf: ({ model }) => windowByName(model),
    summaryWindow: () => config.context.model_window ?? windowByName(parts.model.settings.model),
    tell: parts.live,
    log: (event, fields) => logger.log(event === 'context.compacted' ? 'info' : 'warn', event, fields),
  });
  const snapshotOf = (turn: Waiting, marker: string): TurnSnapshot =>
    buildSnapshot(
      {
        ...parts,
        model: settings(),
        marker,
        budgetAdmission: governor.active,
        room: (model, prompt, tools) => folding.rooms.of(model, prompt, tools),
      },
      turn,
    );
  const scheduler = makeScheduler(
    {
      store,
      governor,
      clock,
      pool: parts.pool,
      masker: parts.masker,
      ask: parts.ask,
      live: parts.live,
      log: (event, fields) => logger.log(LEVELS[event], event, fields),
      optionRefused: (model, option) => {
        omitted.add(option);
        parts.pool.target(settings(), parts.model.credentials.ca);
        logger.log('warn', 'model.option_refused', { model, option });
      },
      estimate: (turn) => {
        const { system_prompt, messages, tools, model, context } = snapshotOf(turn, '');
        const allowance = model.max_output_tokens || ANSWER_ALLOWANCE;
        const input = estimateRequest(system_prompt, messages, tools) * (context?.calibration ?? 1);
        return estimateOf(model, Math.ceil(input) + allowance);
      },
      hashOf: snapshotHash,
      compact: (turn, why, signal) => folding.phases.within(turn, why, signal),
      freeze: (turn, marker) => ({
        snapshot: snapshotOf(turn, marker),
        credentials: { ...parts.model.credentials, mask: [...parts.secrets] },
      }),
    },
    config.agent.max_parallel_turns,
  );
  return {
    requestEnd: (turnId, reason, now) => scheduler.requestEnd(turnId, reason, now),
    whenSettled: (turnId) => scheduler.whenSettled(turnId),
    close: () => scheduler.close(),
    accept: (message) => {
      const accepted = acceptMessage(store, clock, { ...message, workspaceRoot: parts.workspaceRoot });
      logger.log('info', 'turn.accepted', { turn_id: accepted.turnId, thread_id: accepted.threadId });
      parts.live(accepted.turnId, { type: 'journal', event: accepted.event });
      scheduler.wake();
      return accepted;
    },
  };
}

/** Brings what an earlier supervisor left to a true state. Before anything is accepted. */
export async function recoverStore(
  store: Store,
  config: Config,
  clock: Clock,
  logger: Logger,
): Promise<void> {
  if (store.unclean_since_ms !== null)
    logger.log('warn', 'store.unclean', { last_write_ms: store.unclean_since_ms });
  const recorded = recordedProcesses(store);
  if (recorded.length > 0)
    logger.log('warn', 'recover.orphans', { ended: await endOrphans(recorded, clock) });
  dropOldSpools(store.dir);
  const governor = new Governor(store, config.intelligence);
  for (const turnId of recover(store, governor, clock.now()).turns)
    logger.log('warn', 'recover.turn', { turn_id: turnId });
}
