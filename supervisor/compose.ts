// Builds a supervisor out of its parts and hands them their dependencies: the only place that knows them all.
import type { Config } from '../config/schema.js';
import type { Clock } from '../shared/clock.js';
import type { ModelSettings, SecuritySnapshot, TurnSnapshot } from '../shared/ipc/turn-snapshot.js';
import type { JsonValue } from '../shared/json.js';
import type { Masker } from '../shared/mask.js';
import { ANSWER_ALLOWANCE, estimateRequest } from '../shared/transcript/estimate-tokens.js';
import { Governor } from './budgets/governor.js';
import { makeFolding } from './context/folding.js';
import { answerQuestion } from './dispatch/answer-question.js';
import type { Waiting } from './dispatch/gate.js';
import type { PressureLevel } from './dispatch/pressure.js';
import { measureAt, PressureWatch } from './dispatch/pressure-watch.js';
import { recordedProcesses, recover } from './dispatch/recover.js';
import { makeScheduler, type Scheduler, type SchedulerStatus } from './dispatch/scheduler.js';
import { estimateOf } from './dispatch/turn-budget.js';
import type { RunnerEvent } from './dispatch/turn-evidence.js';
import { Waits } from './dispatch/waits.js';
import type { Accepted, IncomingMessage } from './intake/accept-message.js';
import { Door } from './intake/door.js';
import type { Refusal } from './intake/door-rules.js';
import { windowByName } from './intelligence/model-window.js';
import type { ResolvedModel } from './intelligence/resolve-model.js';
import type { LogEvent, LogLevel } from './observe/log-events.js';
import type { Logger } from './observe/logger.js';
import { endOrphans } from './processes/orphans.js';
import type { WarmPool } from './processes/types.js';
import { buildSnapshot, snapshotHash } from './snapshot/build-snapshot.js';
import { dropOldSpools } from './snapshot/spool.js';
import type { Template } from './snapshot/template.js';
import { threadView } from './snapshot/transcript-slice.js';
import type { Store } from './store/types.js';
import { type Audience, askHumanTool } from './tools/ask-human.js';
import { awaitTool } from './tools/await-turns.js';
import type { Ask, LiveListener } from './tools/running-turn.js';
import { sleepTool } from './tools/sleep.js';

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
  /** Who answers `ask_human`; left out: nobody in a job, whoever comes in a daemon. */
  readonly audience?: Audience;
  /** A daemon looks at disk and memory, and may be held. A job does its turn. */
  readonly role: 'job' | 'daemon';
}

export interface SupervisorStatus extends SchedulerStatus {
  readonly pressure: PressureLevel;
}

export interface Supervisor extends Pick<Scheduler, 'requestEnd' | 'whenSettled' | 'close'> {
  /** Durable when it returns; the turn starts as soon as the gate lets it. */
  accept(message: IncomingMessage): Accepted | Refusal;
  /** Answers an open question of a turn, once. */
  answer(waitId: string, result: JsonValue, principal: string): 'answered' | 'unknown' | 'already_answered';
  /** Starts nothing more until `resume`, over restarts too. What runs goes on. */
  pause(): void;
  resume(): void;
  /** Starts nothing more; resolves when what ran has finished or was put back. `now` gives it no time. */
  drain(now?: boolean): Promise<void>;
  status(): SupervisorStatus;
  /** Takes up what waits in the queue and what is due. Once, before anything is accepted; a job, which does its own turn only, never. */
  open(): void;
  /** Hears of everything that turns do, from now on; returns how to stop. */
  subscribe(listener: LiveListener): () => void;
}

/** A wait, for the model or for the budget, is told to everybody: nothing seems to happen meanwhile. */
const LEVELS: Readonly<Record<RunnerEvent, LogLevel>> = {
  'turn.settled': 'info',
  'turn.unrecorded': 'error',
  'turn.requeued': 'info',
  'wait.unrecorded': 'error',
  'worker.exit': 'debug',
  'model.retry': 'warn',
  'model.endpoint_failed': 'warn',
  'model.fallback': 'warn',
  'budget.wait': 'warn',
  'budget.stop': 'warn',
  'budget.degraded': 'warn',
};

const REFUSALS = {
  not_owner: 'turn.refused.not_owner',
  queue_full: 'turn.refused.queue_full',
  too_many_hops: 'turn.refused.too_many_hops',
  id_taken: 'turn.refused.id_taken',
} as const satisfies Record<Refusal['code'], LogEvent>;

function watchPressure({ clock, config, logger, store }: SupervisorParts): PressureWatch {
  return new PressureWatch({
    clock,
    minFreeBytes: config.store.min_free_bytes,
    measure: measureAt(store.dir),
    changed: ({ level, why }) =>
      level === 'ok'
        ? logger.log('info', 'pressure.cleared')
        : logger.log('warn', level === 'shed' ? 'pressure.shed' : 'pressure.warn', { why }),
  });
}

export function composeSupervisor(parts: SupervisorParts): Supervisor {
  const { clock, config, logger, store } = parts;
  const daemon = parts.role === 'daemon';
  const listeners = new Set<LiveListener>();
  const live: LiveListener = (turnId, event) => {
    for (const listener of listeners) listener(turnId, event);
  };
  const pressure = daemon ? watchPressure(parts) : null;
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
    tell: live,
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
  const waits = new Waits({
    store,
    clock,
    masker: parts.masker,
    live,
    tools: {
      sleep: sleepTool(clock),
      await: awaitTool({ store, clock, whenSettled: (turnId) => scheduler.whenSettled(turnId) }),
      ask_human: askHumanTool(clock, parts.audience ?? (daemon ? 'later' : 'nobody')),
    },
    answered: (turnId) => scheduler.wake(turnId),
    log: (event, fields) => logger.log(LEVELS[event], event, fields),
  });
  const scheduler = makeScheduler({
    store,
    governor,
    clock,
    pool: parts.pool,
    masker: parts.masker,
    ask: parts.ask,
    live,
    waits,
    parkAfterMs: config.agent.park_after_ms,
    maxParallelTurns: config.agent.max_parallel_turns,
    laneAgeMs: config.agent.lane_age_ms,
    paused: daemon && store.switches.isOn('paused'),
    ...(pressure === null ? {} : { pressure }),
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
  });
  const door = new Door({
    store,
    clock,
    rules: {
      maxMessageDepth: config.limits.max_message_depth,
      perPrincipal: config.limits.queue.per_principal,
      total: config.limits.queue.total,
      waiting: (principal) => scheduler.waiting(principal),
    },
    accepted: (accepted) => {
      const { turnId, threadId, principal, lane, event } = accepted;
      logger.log('info', 'turn.accepted', { turn_id: turnId, thread_id: threadId });
      live(turnId, { type: 'journal', event });
      scheduler.enqueue({ turnId, threadId, principal, lane });
    },
    refused: ({ threadId, principal }, { code }) =>
      logger.log('warn', REFUSALS[code], { thread_id: threadId, principal }),
  });
  const hold = (paused: boolean): void => {
    store.transact('set_switch', () => store.switches.set('paused', paused, clock.now()));
    logger.log('info', paused ? 'gate.paused' : 'gate.resumed');
    scheduler.hold(paused);
  };
  return {
    requestEnd: (turnId, reason, now) => scheduler.requestEnd(turnId, reason, now),
    whenSettled: (turnId) => scheduler.whenSettled(turnId),
    accept: (message) => door.accept(message),
    answer: (waitId, reply, principal) => answerQuestion(store, waits, waitId, reply, principal),
    pause: () => hold(true),
    resume: () => hold(false),
    status: () => ({ ...scheduler.status(), pressure: pressure?.level ?? 'ok' }),
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    open: () => {
      scheduler.load();
      door.arm();
    },
    drain: (now = false) => {
      door.close();
      return scheduler.drain(now ? 0 : config.lifecycle.drain_timeout_ms);
    },
    close: () => {
      door.close();
      return scheduler.close();
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
  const { turns, requeued } = recover(store, governor, clock.now());
  for (const turnId of requeued)
    logger.log('info', 'turn.requeued', { turn_id: turnId, reason: 'supervisor_lost' });
  for (const turnId of turns) logger.log('warn', 'recover.turn', { turn_id: turnId });
}
