// The endpoints of one model within a call: which one is tried, and what follows when it fails. A failure that another
// endpoint may not share is answered by the next one at once; only when all have failed it is waited. Pure.
import type { CallFailure } from './refusals.js';
import type { NextStep } from './retry.js';

type Retry = Extract<NextStep, { kind: 'retry' }>;

export type AfterFailure =
  | NextStep
  | { readonly kind: 'move' /** Its retries start anew. */; readonly fresh: boolean };

export class EndpointTries {
  readonly #count: number;
  /** In this pass. */
  readonly #tried = new Set<number>();
  /** For this call. */
  readonly #spent = new Set<number>();
  #wait: Retry | null = null;
  at = 0;

  constructor(count: number) {
    this.#count = count;
  }

  /** `step` is what would follow if there were no other endpoint. */
  after(failure: CallFailure, step: NextStep): AfterFailure {
    if (step.kind === 'drop_option' || !isOfEndpoint(failure, step)) return step;
    this.#tried.add(this.at);
    if (step.kind === 'give_up') this.#spent.add(this.at);
    else this.#wait = step;
    const next = this.#open().find((index) => !this.#tried.has(index));
    if (next !== undefined) {
      this.at = next;
      return { kind: 'move', fresh: failure.code === 'model_rate_limited' };
    }
    const [first] = this.#open();
    const wait = step.kind === 'retry' ? step : this.#wait;
    if (first === undefined || wait === null) return step;
    this.at = first;
    this.#tried.clear();
    this.#wait = null;
    return wait;
  }

  #open(): number[] {
    return Array.from({ length: this.#count }, (_, index) => index).filter(
      (index) => !this.#spent.has(index),
    );
  }
}

/** What the endpoint is to blame for, not the request. A limit of the rate is sat out first: it is often shared. */
export function isOfEndpoint({ code }: CallFailure, step: NextStep): boolean {
  return code === 'model_unreachable' || (code === 'model_rate_limited' && step.kind === 'give_up');
}

/** What is known of endpoints while a provider is kept: those that failed last are tried last. */
export class EndpointMemory {
  readonly #works = new Map<string, boolean>();

  inOrder(urls: readonly string[]): string[] {
    const failed = (url: string): boolean => this.#works.get(url) === false;
    return [...urls.filter((url) => !failed(url)), ...urls.filter(failed)];
  }

  /** False when this was known already. */
  learn(url: string, works: boolean): boolean {
    const news = this.#works.get(url) !== works;
    this.#works.set(url, works);
    return news;
  }
}
