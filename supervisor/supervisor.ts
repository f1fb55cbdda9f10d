// What a supervisor is made of, and what it offers to whoever runs one: a job, a daemon, a test.
import type { Config } from '../config/schema.js';
import type { Clock } from '../shared/clock.js';
import type { SecuritySnapshot } from '../shared/ipc/turn-snapshot.js';
import type { JsonValue } from '../shared/json.js';
import type { Masker } from '../shared/mask.js';
import type { PressureLevel } from './dispatch/pressure.js';
import type { Scheduler, SchedulerStatus } from './dispatch/scheduler.js';
import type { Accepted, IncomingMessage } from './intake/accept-message.js';
import type { Refusal } from './intake/door-rules.js';
import type { ModelCatalogue } from './intelligence/model-catalogue.js';
import type { Logger } from './observe/logger.js';
import type { WarmPool } from './processes/types.js';
import type { Template } from './snapshot/template.js';
import type { Store } from './store/types.js';
import type { Audience } from './tools/ask-human.js';
import type { Ask, LiveListener } from './tools/running-turn.js';

export interface SupervisorParts {
  readonly config: Config;
  readonly clock: Clock;
  readonly store: Store;
  readonly pool: WarmPool;
  readonly logger: Logger;
  readonly masker: Masker;
  readonly catalogue: ModelCatalogue;
  /** Every known secret value, for the worker to mask. */
  readonly secrets: readonly string[];
  readonly template: Template;
  readonly security: SecuritySnapshot;
  /** Where turns work whose thread names no other place; a job always works here. */
  readonly workspaceRoot: string;
  readonly ask: Ask;
  /** Who answers `ask_human`; left out: nobody in a job, whoever comes in a daemon. */
  readonly audience?: Audience;
  /** A daemon looks at disk and memory, and may be held. A job does its turn. */
  readonly role: 'job' | 'daemon';
  /** A turn of a daemon asked by `finish` that the daemon ends. */
  readonly exitAsked?: () => void;
}

export interface SupervisorStatus extends SchedulerStatus {
  readonly pressure: PressureLevel;
}

export interface Supervisor extends Pick<Scheduler, 'requestEnd' | 'whenSettled' | 'close'> {
  /** Durable when it returns; the turn starts as soon as the gate lets it. */
  accept(message: IncomingMessage): Accepted | Refusal;
  /** Resolves when nothing that a turn gave to subagents is at work any more. */
  settledBelow(turnId: string): Promise<void>;
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
