// What the handlers of the protocol ask of the rest: the supervisor that does the work, and whoever called.

import type { Clock } from '../../shared/clock.js';
import type { Failure } from '../../shared/errors.js';
import type { JsonValue } from '../../shared/json.js';
import type { EndReason } from '../../shared/outcome.js';
import type { PermissionMode } from '../../shared/policy/permission-mode.js';
import type { Method, Params, Result } from '../../shared/protocol/methods.js';
import type { Notification } from '../../shared/protocol/notifications.js';
import type { Accepted, IncomingMessage } from '../intake/accept-message.js';
import type { TurnRow } from '../store/rows.js';
import type { Store } from '../store/types.js';

/** The supervisor, as far as clients reach it. */
export interface Engine {
  /** Durable when it returns. */
  accept(message: IncomingMessage): Accepted | (Failure & { readonly ok: false });
  requestEnd(turnId: string, reason: EndReason, now?: boolean): boolean;
  whenSettled(turnId: string): Promise<TurnRow>;
  answer(waitId: string, result: JsonValue, principal: string): 'answered' | 'unknown' | 'already_answered';
  pause(): void;
  resume(): void;
  drain(): Promise<void>;
  status(): EngineStatus;
}

export interface EngineStatus {
  readonly paused: boolean;
  readonly draining: boolean;
  /** Whether disk or memory run so short that no turn starts. */
  readonly shedding: boolean;
}

/** What is known of turns at work beside their rows. */
export interface TurnWatch {
  of(turnId: string): { readonly round: number; readonly tool: string | null };
}

export interface ModelNames {
  /** The model of turns that name none. */
  readonly name: string;
  /** Who serves it, as clients see it. */
  readonly provider: string;
  /** Models that a turn may name instead. */
  readonly others: readonly string[];
}

export interface HandlerParts {
  readonly engine: Engine;
  readonly store: Store;
  readonly clock: Clock;
  readonly watch: TurnWatch;
  /** Root of the workspace of threads that name none. */
  readonly workspaceRoot: string;
  readonly defaultMode: PermissionMode;
  readonly model: ModelNames;
  readonly onBusyThread: 'queue' | 'reject';
  readonly startedAtMs: number;
  /** Lets turns finish and ends the daemon. */
  drain(): Promise<void>;
  connections(): number;
}

/** One request, as its handler sees it. */
export interface Call {
  readonly principal: string;
  /** From now on notifications of the thread go to this connection. False when they did already. */
  subscribe(threadId: string): boolean;
  unsubscribe(threadId: string): boolean;
  /** To this connection alone, after the answer. */
  tell(notification: Notification): void;
  /** What the request causes is told before its answer from here on, and the next of its scope goes on. */
  release(): void;
}

/** An expected refusal: it becomes the error of the answer. */
export class Refused extends Error {
  readonly failure: Failure;
  constructor(code: Failure['code'], message: string) {
    super(message);
    this.name = 'Refused';
    this.failure = { code, message };
  }
}

export type Handler<M extends Method> = (params: Params<M>, call: Call) => Result<M> | Promise<Result<M>>;
export type Handlers = { readonly [M in Method]: Handler<M> };
export type HandlersOf<Names extends Method> = { readonly [M in Names]: Handler<M> };
