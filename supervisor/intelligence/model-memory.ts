// What a supervisor has learnt about models while it lives, laid over what is configured: options that they refuse, and
// endpoints that do not answer. Turns and thoughts get their settings from here when they are frozen.
import type { Clock } from '../../shared/clock.js';
import type { ModelCredentials, ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import { EndpointHealth } from './endpoint-health.js';
import type { ReachableModel } from './resolve-model.js';

/** Names of models come from operators and budgets, options from dialects: both are few. */
const MODELS_MAX = 256;
const OPTIONS_MAX = 32;

/** A model and who goes on in its place, as a snapshot and its credentials hold them. */
export interface ArrangedModel {
  readonly settings: ModelSettings;
  readonly fallbacks: readonly ModelSettings[];
  readonly credentials: ModelCredentials & { fallbacks?: ModelCredentials[] };
}

export class ModelMemory {
  readonly health: EndpointHealth;
  readonly #refused = new Map<string, Set<string>>();

  constructor(clock: Clock) {
    this.health = new EndpointHealth(clock);
  }

  /** By the name that servers know it: whichever role or fallback asks, the model is the same. */
  refuse(model: string, option: string): void {
    const options = this.#refused.get(model) ?? new Set<string>();
    // The one that was heard of first is the one that was forgotten longest.
    if (!this.#refused.has(model) && this.#refused.size >= MODELS_MAX)
      for (const oldest of [...this.#refused.keys()].slice(0, 1)) this.#refused.delete(oldest);
    this.#refused.set(model, options);
    if (options.size < OPTIONS_MAX) options.add(option);
  }

  /** What is sent to the model now. */
  settings({ settings }: Pick<ReachableModel, 'settings'>): ModelSettings {
    const refused = this.#refused.get(settings.model);
    const omit = refused === undefined ? settings.omit : [...new Set([...settings.omit, ...refused])];
    const { urls = [] } = settings;
    if (urls.length === 0) return refused === undefined ? settings : { ...settings, omit };
    const [url = settings.url, ...others] = this.health.inOrder([settings.url, ...urls]);
    return { ...settings, omit, url, urls: others };
  }

  /** Models whose endpoints are all left alone go behind those that can be reached. */
  arrange(model: ReachableModel & { readonly fallbacks: readonly ReachableModel[] }): ArrangedModel {
    const all = [model, ...model.fallbacks];
    const reachable = all.length === 1 ? all : all.filter((one) => this.#isReachable(one));
    const ordered = [...reachable, ...all.filter((one) => !reachable.includes(one))];
    const [first = model, ...rest] = ordered;
    const { credentials } = first;
    return {
      settings: this.settings(first),
      fallbacks: rest.map((one) => this.settings(one)),
      credentials:
        rest.length === 0 ? credentials : { ...credentials, fallbacks: rest.map((one) => one.credentials) },
    };
  }

  /** The same for a turn or thought that begins now: it may be the one that tries an endpoint again. */
  begin(model: Parameters<ModelMemory['arrange']>[0]): ArrangedModel {
    const arranged = this.arrange(model);
    this.health.trying(arranged.settings.url);
    return arranged;
  }

  #isReachable({ settings }: ReachableModel): boolean {
    return [settings.url, ...(settings.urls ?? [])].some((url) => this.health.isUsable(url));
  }
}
