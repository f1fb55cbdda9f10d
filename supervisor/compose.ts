// Builds a supervisor out of its parts and hands them their dependencies: the only place that knows them all.
import { outputAllowance } from '../shared/ipc/output-room.js';
import type { JsonValue } from '../shared/json.js';
import { MESSAGE_SEND } from '../shared/tools/message-tools.js';
import { estimateRequest } from '../shared/transcript/estimate-tokens.js';
import { type Estimate, Governor } from './budgets/governor.js';
import { type Folding, makeFolding } from './context/folding.js';
import { answerQuestion } from './dispatch/answer-question.js';
import type { Waiting } from './dispatch/gate.js';
import type { PressureWatch } from './dispatch/pressure-watch.js';
import { makeScheduler, type Scheduler } from './dispatch/scheduler.js';
import { makeThinking, type Thinking } from './dispatch/thinking.js';
import { estimateOf } from './dispatch/turn-budget.js';
import { Waits } from './dispatch/waits.js';
import type { Accepted, IncomingMessage } from './intake/accept-message.js';
import { Door } from './intake/door.js';
import type { Refusal } from './intake/door-rules.js';
import { postOffice } from './intake/post-office.js';
import { ModelMemory } from './intelligence/model-memory.js';
import { snapshotHash } from './snapshot/build-snapshot.js';
import { threadView } from './snapshot/transcript-slice.js';
import { TurnInputs } from './snapshot/turn-inputs.js';
import type { Producer } from './store/rows.js';
import { Subagents } from './subagents/subagents.js';
import type { Supervisor, SupervisorParts, SupervisorStatus } from './supervisor.js';
import { LEVELS, REFUSALS, watchPressure } from './telling.js';
import { askHumanTool } from './tools/ask-human.js';
import { awaitTool } from './tools/await-turns.js';
import { messageSendTool } from './tools/message-send.js';
import type { LiveListener } from './tools/running-turn.js';
import { sleepTool } from './tools/sleep.js';

/** What a job leaves in the queue for a daemon: nobody would wait for it. */
const LEFT_BY_JOBS = new Set<Producer>(['message', 'timer']);

export function composeSupervisor(parts: SupervisorParts): Supervisor {
  return new Composed(parts);
}

class Composed implements Supervisor {
  readonly #parts: SupervisorParts;
  readonly #daemon: boolean;
  readonly #listeners = new Set<LiveListener>();
  readonly #governor: Governor;
  readonly #memory: ModelMemory;
  readonly #pressure: PressureWatch | null;
  readonly #thinking: Thinking;
  readonly #folding: Folding;
  readonly #input: TurnInputs;
  readonly #subagents: Subagents;
  readonly #waits: Waits;
  readonly #scheduler: Scheduler;
  readonly #door: Door;

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#daemon = parts.role === 'daemon';
    this.#governor = new Governor(parts.store, parts.config.intelligence);
    this.#memory = new ModelMemory(parts.clock);
    this.#pressure = this.#daemon ? watchPressure(parts) : null;
    this.#thinking = this.#makeThinking();
    this.#folding = this.#makeFolding();
    this.#input = new TurnInputs({
      ...parts,
      memory: this.#memory,
      budgetAdmission: this.#governor.active,
      // A job works where it was started, whatever its thread did before.
      ownWorkspaces: this.#daemon,
      room: (model, prompt, tools) => this.#folding.rooms.of(model, prompt, tools),
    });
    this.#subagents = this.#makeSubagents();
    this.#waits = this.#makeWaits();
    this.#scheduler = this.#makeScheduler();
    this.#door = this.#makeDoor();
  }

  accept(message: IncomingMessage): Accepted | Refusal {
    return this.#door.accept(message);
  }

  requestEnd: Supervisor['requestEnd'] = (turnId, reason, now) => {
    const known = this.#scheduler.requestEnd(turnId, reason, now);
    this.#subagents.endBelow(turnId, reason, now);
    return known;
  };

  settledBelow: Supervisor['settledBelow'] = (turnId) => this.#subagents.settledBelow(turnId);

  whenSettled: Supervisor['whenSettled'] = (turnId) => this.#scheduler.whenSettled(turnId);

  answer(waitId: string, reply: JsonValue, principal: string): ReturnType<Supervisor['answer']> {
    return answerQuestion(this.#parts.store, this.#waits, waitId, reply, principal);
  }

  pause(): void {
    this.#hold(true);
  }

  resume(): void {
    this.#hold(false);
  }

  status(): SupervisorStatus {
    return { ...this.#scheduler.status(), pressure: this.#pressure?.level ?? 'ok' };
  }

  subscribe(listener: LiveListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  open(): void {
    const { pool, catalogue } = this.#parts;
    pool.target(this.#memory.settings(catalogue.turn), catalogue.turn.credentials.ca);
    this.#scheduler.load();
    this.#door.arm();
  }

  async drain(now = false): Promise<void> {
    this.#door.close();
    await this.#scheduler.drain(now ? 0 : this.#parts.config.lifecycle.drain_timeout_ms);
    await this.#thinking.thinker.close();
  }

  async close(): Promise<void> {
    this.#door.close();
    await this.#scheduler.close();
    await this.#thinking.thinker.close();
  }

  readonly #live: LiveListener = (turnId, event) => {
    for (const listener of this.#listeners) listener(turnId, event);
  };

  #hold(paused: boolean): void {
    const { store, clock, logger } = this.#parts;
    store.transact('set_switch', () => store.switches.set('paused', paused, clock.now()));
    logger.log('info', paused ? 'gate.paused' : 'gate.resumed');
    this.#scheduler.hold(paused);
  }

  /** A model never takes this option: nothing sends it again, spares included. */
  readonly #optionRefused = (model: string, option: string): void => {
    const { pool, catalogue, logger } = this.#parts;
    this.#memory.refuse(model, option);
    pool.target(this.#memory.settings(catalogue.turn), catalogue.turn.credentials.ca);
    logger.log('warn', 'model.option_refused', { model, option });
  };

  readonly #endpoint = (url: string, works: boolean): void => {
    const { health } = this.#memory;
    const changed = works ? health.works(url) : health.failed(url);
    if (!changed) return;
    const { pool, catalogue, logger } = this.#parts;
    // Spares keep a connection to where the next turn begins.
    pool.target(this.#memory.settings(catalogue.turn), catalogue.turn.credentials.ca);
    logger.log('warn', works ? 'model.endpoint_works' : 'model.endpoint_left', { url });
  };

  #estimate(turn: Waiting): Estimate {
    const { system_prompt, messages, tools, model, context } = this.#input.freeze(turn, '', {}).snapshot;
    const input = estimateRequest(system_prompt, messages, tools) * (context?.calibration ?? 1);
    return estimateOf(model, Math.ceil(input) + outputAllowance(model));
  }

  #makeThinking(): Thinking {
    return makeThinking({
      ...this.#parts,
      governor: this.#governor,
      live: this.#live,
      budgetFreed: () => this.#scheduler.wake(),
      arrange: (model) => this.#memory.begin(model),
      optionRefused: this.#optionRefused,
      endpoint: this.#endpoint,
      log: (level, event, fields) => this.#parts.logger.log(level, event, fields),
    });
  }

  #makeFolding(): Folding {
    const { store, clock, config, catalogue, logger } = this.#parts;
    const summariser = catalogue.modelFor('compaction');
    return makeFolding({
      store,
      clock,
      config,
      // The offline model follows commands; it cannot summarise a conversation.
      thinker: summariser.settings.dialect === 'builtin' ? null : this.#thinking.thinker,
      view: (query) => threadView(store, query),
      settings: () => this.#memory.settings(catalogue.turn),
      windowOf: (settings) => catalogue.windowOf(settings),
      summaryWindow: () => summariser.window,
      tell: this.#live,
      log: (event, fields) => logger.log(event === 'context.compacted' ? 'info' : 'warn', event, fields),
    });
  }

  #makeSubagents(): Subagents {
    const { store, clock, config, catalogue } = this.#parts;
    return new Subagents({
      ...{ store, clock, limits: config.limits, keepsDetached: this.#daemon },
      isModel: (name) => (catalogue.named(name)?.kind ?? 'decision') !== 'decision',
      shedding: () => this.#pressure?.level === 'shed',
      accept: (message) => this.#door.acceptInside(message),
      requestEnd: (turnId, reason, now) => this.requestEnd(turnId, reason, now),
      whenSettled: (turnId) => this.#scheduler.whenSettled(turnId),
    });
  }

  #makeWaits(): Waits {
    const { store, clock, masker, logger, audience } = this.#parts;
    return new Waits({
      store,
      clock,
      masker,
      live: this.#live,
      tools: {
        sleep: sleepTool(clock),
        await: awaitTool({ store, clock, whenSettled: (turnId) => this.#scheduler.whenSettled(turnId) }),
        [MESSAGE_SEND]: messageSendTool(
          postOffice({ store, door: () => this.#door, runs: this.#daemon ? 'now' : 'in_a_daemon' }),
        ),
        ask_human: askHumanTool(clock, audience ?? (this.#daemon ? 'later' : 'nobody')),
        ...this.#thinking.tools,
        ...this.#subagents.tools,
      },
      answered: (turnId) => this.#scheduler.wake(turnId),
      lent: () => this.#scheduler.wake(),
      log: (event, fields) => logger.log(LEVELS[event], event, fields),
    });
  }

  #makeScheduler(): Scheduler {
    const { config, logger, store, exitAsked } = this.#parts;
    const { phases } = this.#folding;
    return makeScheduler({
      ...this.#parts,
      governor: this.#governor,
      live: this.#live,
      waits: this.#waits,
      parkAfterMs: config.agent.park_after_ms,
      maxParallelTurns: config.agent.max_parallel_turns,
      laneAgeMs: config.agent.lane_age_ms,
      paused: this.#daemon && store.switches.isOn('paused'),
      ...(this.#pressure === null ? {} : { pressure: this.#pressure }),
      log: (event, fields) => logger.log(LEVELS[event], event, fields),
      optionRefused: this.#optionRefused,
      endpoint: this.#endpoint,
      before: this.#thinking.before((turn, signal) => phases.before(turn, signal)),
      // A job folds before its next turn: whoever waits for its exit does not wait for that.
      ...(this.#daemon ? { after: (turn, _row, signal) => phases.after(turn, signal) } : {}),
      ended: ({ turn_id: turnId }) => this.#subagents.endBelow(turnId, 'cancel'),
      finished: (turnId, args) => {
        // What a subagent finishes is its task.
        if (args.exit === true && store.inbox.ofTurn(turnId)?.producer !== 'subagent') exitAsked?.();
      },
      estimate: (turn) => this.#estimate(turn),
      hashOf: snapshotHash,
      compact: (turn, why, signal) => phases.within(turn, why, signal),
      freeze: (turn, marker, extras) => {
        const input = this.#input.freeze(turn, marker, extras);
        this.#memory.health.trying(input.snapshot.model.url);
        return input;
      },
    });
  }

  #makeDoor(): Door {
    const { store, clock, config, logger } = this.#parts;
    return new Door({
      store,
      clock,
      keepsTime: this.#daemon,
      noted: ({ written }) => {
        if (written !== null) this.#live(written.turnId, { type: 'journal', event: written.event });
      },
      rules: {
        wakes: config.agent.wake_on.includes('message'),
        maxMessageDepth: config.limits.max_message_depth,
        perPrincipal: config.limits.queue.per_principal,
        total: config.limits.queue.total,
        waiting: (principal) => this.#scheduler.waiting(principal),
      },
      accepted: (accepted) => {
        const { turnId, threadId, principal, lane, producer, event, parentTurnId } = accepted;
        logger.log('info', 'turn.accepted', { turn_id: turnId, thread_id: threadId });
        this.#live(turnId, { type: 'journal', event });
        if (this.#daemon || !LEFT_BY_JOBS.has(producer))
          this.#scheduler.enqueue({
            turnId,
            threadId,
            principal,
            lane,
            ...(parentTurnId === undefined ? {} : { parentTurnId }),
          });
      },
      refused: ({ threadId, principal }, { code }) =>
        logger.log('warn', REFUSALS[code], { thread_id: threadId, principal }),
    });
  }
}
