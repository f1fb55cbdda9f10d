// Watches a worker that has a turn: pings it, notes what it says, and tells once when it is overdue or stuck.
import type { Clock } from '../../shared/clock.js';
import { judgeLiveness, type LivenessLimits, pingEveryMs } from './liveness.js';

export interface HeartbeatParts {
  readonly clock: Clock;
  readonly limits: LivenessLimits;
  /** Monotonic time at which the turn must be over at the latest. */
  readonly deadlineAtMs: number;
  ping(seq: number): void;
  verdict(verdict: 'overdue' | 'stuck'): void;
}

export class Heartbeat {
  readonly #parts: HeartbeatParts;
  readonly #everyMs: number;
  #progressMs: number;
  #pongMs: number;
  #beatMs: number;
  #seq = 0;
  #stopTimer: () => void = () => undefined;

  constructor(parts: HeartbeatParts) {
    this.#parts = parts;
    this.#everyMs = pingEveryMs(parts.limits);
    this.#beatMs = parts.clock.monotonic();
    this.#progressMs = this.#beatMs;
    this.#pongMs = this.#beatMs;
    this.#arm();
  }

  progress(): void {
    this.#progressMs = this.#parts.clock.monotonic();
  }

  pong(): void {
    this.#pongMs = this.#parts.clock.monotonic();
  }

  stop(): void {
    this.#stopTimer();
  }

  #arm(): void {
    this.#stopTimer = this.#parts.clock.after(this.#everyMs, () => this.#beat());
  }

  #beat(): void {
    const { clock, limits, deadlineAtMs } = this.#parts;
    const nowMs = clock.monotonic();
    // When this process itself slept (stopped, or a blocked loop), its workers' answers still wait to be read.
    if (nowMs - this.#beatMs > 2 * this.#everyMs) this.#pongMs = nowMs;
    this.#beatMs = nowMs;
    const signs = {
      channelClosed: false,
      deadlineAtMs,
      lastProgressMs: this.#progressMs,
      lastPongMs: this.#pongMs,
    };
    const verdict = judgeLiveness(signs, limits, nowMs);
    if (verdict === 'overdue' || verdict === 'stuck') {
      this.#parts.verdict(verdict);
      return;
    }
    this.#seq += 1;
    this.#parts.ping(this.#seq);
    this.#arm();
  }
}
