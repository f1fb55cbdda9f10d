// Which endpoints of models are worth a try, by what workers told of them. An endpoint that keeps failing is left alone for
// a while, a longer one each time; then one turn tries it again. Lives as long as the supervisor. Pure but for the clock.
import type { Clock } from '../../shared/clock.js';

const FAILURES_TO_OPEN = 3;
const COOLDOWN_MS = 5_000;
const COOLDOWN_MAX_MS = 60_000;
/** A turn that was to try an endpoint may end before it does. */
const TRY_MS = 60_000;
/** Endpoints are configured, so there are few; what a broken worker invents is not kept. */
const KNOWN_MAX = 256;

interface Health {
  failures: number;
  cooldownMs: number;
  /** Left alone until then; null while it is tried by everybody. */
  openUntilMs: number | null;
  /** One turn tries it, and nobody else until then. */
  triedUntilMs: number;
}

export class EndpointHealth {
  readonly #clock: Clock;
  readonly #known = new Map<string, Health>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** True when it is left alone from now on. */
  failed(url: string): boolean {
    const now = this.#clock.monotonic();
    const health = this.#known.get(url) ?? fresh();
    if (!this.#known.has(url) && this.#known.size < KNOWN_MAX) this.#known.set(url, health);
    health.failures += 1;
    if (health.openUntilMs === null) {
      if (health.failures < FAILURES_TO_OPEN) return false;
    } else {
      // Turns that began before it was left alone tell nothing new.
      if (now < health.openUntilMs) return false;
      health.cooldownMs = Math.min(COOLDOWN_MAX_MS, health.cooldownMs * 2);
    }
    health.openUntilMs = now + health.cooldownMs;
    health.triedUntilMs = 0;
    return true;
  }

  /** True when it had been left alone. */
  works(url: string): boolean {
    const health = this.#known.get(url);
    this.#known.delete(url);
    return health !== undefined && health.openUntilMs !== null;
  }

  /** Whether a turn that starts now should count on it. */
  isUsable(url: string): boolean {
    const health = this.#known.get(url);
    if (health === undefined || health.openUntilMs === null) return true;
    const now = this.#clock.monotonic();
    return now >= health.openUntilMs && now >= health.triedUntilMs;
  }

  /** Usable ones first, each group in the order of the operator. */
  inOrder(urls: readonly string[]): string[] {
    if (this.#known.size === 0) return [...urls];
    const usable = urls.filter((url) => this.isUsable(url));
    return [...usable, ...urls.filter((url) => !usable.includes(url))];
  }

  /** A turn begins with this endpoint. When it had been left alone, no other turn does until this one tells. */
  trying(url: string): void {
    const health = this.#known.get(url);
    if (health !== undefined && health.openUntilMs !== null)
      health.triedUntilMs = this.#clock.monotonic() + TRY_MS;
  }
}

function fresh(): Health {
  return { failures: 0, cooldownMs: COOLDOWN_MS, openUntilMs: null, triedUntilMs: 0 };
}
