// Which model does which job. Everything that is declared is resolved once, at start, so that a turn only looks it up.
// A model without a provider is reached over the usual connection, which is looked for only when somebody needs it.
import type { Config } from '../../config/schema.js';
import type { Clock } from '../../shared/clock.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import {
  type Access,
  accessTo,
  dialectOf,
  isConfigured,
  providerConnection,
  usualConnection,
} from './connection.js';
import { discover, USUAL_MODELS } from './discover.js';
import { type Declared, settingsOf } from './model-settings.js';
import { windowByName } from './model-window.js';
import { type DecisionModel, type ResolvedModel, secretsOf } from './resolve-model.js';

export type Role = keyof Config['intelligence']['roles'];
export type AnyModel = ResolvedModel | DecisionModel;

export interface ModelCatalogue {
  readonly turn: ResolvedModel;
  modelFor(role: Role): AnyModel;
  /** By its declared name, else by the name that its server knows, over the usual connection. */
  named(name: string): AnyModel | undefined;
  /** What a message may be sent to instead of the model of `turn`. */
  readonly routes: readonly { readonly name: string; readonly criterion: string }[];
  route(name: string): ResolvedModel | undefined;
  /** Tokens that the model reads at once; of a model for turns, the least that any of these reads, since the next turn may be another's. */
  windowOf(settings: Pick<ModelSettings, 'model'>): number;
  /** All models that may be asked, fallbacks included, by the names that their servers know. */
  readonly models: readonly string[];
  /** Values to be masked wherever text leaves. */
  readonly secrets: readonly string[];
}

export type Catalogued =
  | { readonly ok: true; readonly catalogue: ModelCatalogue }
  | { readonly ok: false; readonly message: string };

export async function openCatalogue(
  config: Config,
  env: NodeJS.ProcessEnv,
  clock: Clock,
): Promise<Catalogued> {
  const usual = needsUsual(config) ? await usualAccess(config, env, clock) : null;
  if (typeof usual === 'string') return { ok: false, message: usual };
  try {
    return { ok: true, catalogue: new Catalogue(config, usual, new Accesses(config, env, usual)) };
  } catch (error) {
    if (error instanceof Unreachable) return { ok: false, message: error.message };
    throw error;
  }
}

/** The model of turns, by the name that the operator gave it. */
function turnName(intelligence: Config['intelligence']): string | null {
  return intelligence.roles.turn ?? intelligence.model;
}

function needsUsual({ intelligence }: Config): boolean {
  const { models, roles } = intelligence;
  const name = turnName(intelligence);
  const plain = Object.values(roles).some((role) => role !== null && !Object.hasOwn(models, role));
  const turnIsPlain = name === null || !Object.hasOwn(models, name);
  return turnIsPlain || plain || Object.values(models).some(({ provider }) => provider === null);
}

interface Usual {
  readonly access: Access;
  /** The model where none is named. */
  readonly model: string;
  readonly notice: string | null;
}

async function usualAccess(config: Config, env: NodeJS.ProcessEnv, clock: Clock): Promise<Usual | string> {
  const { intelligence } = config;
  const connection = usualConnection(intelligence);
  const name = turnName(intelligence);
  const wire = name === null ? null : (intelligence.models[name]?.model ?? name);
  if (!isConfigured(connection)) return discover(connection, wire, env, clock);
  const dialect = dialectOf(connection);
  if (wire === null && dialect === 'bedrock')
    return 'intelligence.model: Bedrock needs the id of a model or inference profile (--model ID, or intelligence.model)';
  if (wire === null && dialect !== 'builtin' && connection.endpoints !== null)
    return 'intelligence.model: an endpoint needs the name of a model (--model NAME, or intelligence.model)';
  const access = accessTo(connection, env);
  if (typeof access === 'string') return access;
  if (dialect === 'builtin') return { access, model: 'builtin', notice: null };
  const known = dialect === 'anthropic' ? USUAL_MODELS.anthropic : USUAL_MODELS.openai;
  return { access, model: known, notice: null };
}

/** Thrown while the catalogue is built, and caught where that began. */
class Unreachable extends Error {}

/** The usual connection and the providers, each opened when a model first needs it. */
class Accesses {
  readonly #config: Config;
  readonly #env: NodeJS.ProcessEnv;
  readonly #usual: Usual | null;
  readonly #opened = new Map<string, Access>();

  constructor(config: Config, env: NodeJS.ProcessEnv, usual: Usual | null) {
    this.#config = config;
    this.#env = env;
    this.#usual = usual;
  }

  of(provider: string | null): Access {
    if (provider === null) {
      if (this.#usual === null) throw new Unreachable('intelligence.endpoints: there is no usual connection');
      return this.#usual.access;
    }
    const opened = this.#opened.get(provider);
    if (opened !== undefined) return opened;
    const { intelligence } = this.#config;
    const configured = intelligence.providers[provider];
    if (configured === undefined) throw new Unreachable(`intelligence.providers: there is no ${provider}`);
    const access = accessTo(providerConnection(provider, configured, intelligence), this.#env);
    if (typeof access === 'string') throw new Unreachable(access);
    this.#opened.set(provider, access);
    return access;
  }
}

class Catalogue implements ModelCatalogue {
  readonly turn: ResolvedModel;
  readonly routes: ModelCatalogue['routes'];
  readonly #config: Config;
  readonly #usual: Usual | null;
  readonly #accesses: Accesses;
  readonly #declared = new Map<string, AnyModel>();
  readonly #plain = new Map<string, ResolvedModel>();
  readonly #windows = new Map<string, number>();
  readonly #roles = new Map<Role, AnyModel>();

  constructor(config: Config, usual: Usual | null, accesses: Accesses) {
    this.#config = config;
    this.#usual = usual;
    this.#accesses = accesses;
    const { intelligence } = config;
    for (const name of Object.keys(intelligence.models)) this.#declare(name);
    this.routes = Object.entries(intelligence.routes).map(([name, criterion]) => ({ name, criterion }));
    this.turn = talking(this.#lookup(turnName(intelligence)), 'intelligence.roles.turn');
    const { preflight, compaction, think, decide } = intelligence.roles;
    for (const [role, name] of Object.entries({ preflight, compaction, think, decide }) as [
      Role,
      string | null,
    ][])
      this.#roles.set(role, name === null ? this.turn : this.#lookup(name));
    this.#shareWindow();
  }

  get models(): readonly string[] {
    return [
      ...new Set([...this.#declared.values(), ...this.#plain.values()].map(({ settings }) => settings.model)),
    ];
  }

  get secrets(): readonly string[] {
    const all = [...this.#declared.values(), ...this.#plain.values()];
    return [...new Set(all.flatMap(({ credentials }) => secretsOf(credentials)))];
  }

  modelFor(role: Role): AnyModel {
    return this.#roles.get(role) ?? this.turn;
  }

  named(name: string): AnyModel | undefined {
    const known = this.#declared.get(name) ?? this.#plain.get(name);
    return known ?? (this.#usual === null ? undefined : this.#plainModel(name));
  }

  route(name: string): ResolvedModel | undefined {
    if (!Object.hasOwn(this.#config.intelligence.routes, name)) return undefined;
    const model = this.#declared.get(name);
    return model === undefined || model.kind === 'decision' ? undefined : model;
  }

  windowOf({ model }: Pick<ModelSettings, 'model'>): number {
    return this.#windows.get(model) ?? this.#config.context.model_window ?? windowByName(model);
  }

  /** A turn goes on from what the turn before left, whichever model that was. */
  #shareWindow(): void {
    const routed = this.routes.map(({ name }) => this.route(name)).filter((model) => model !== undefined);
    if (routed.length === 0) return;
    const shared = [this.turn, ...routed];
    const least = Math.min(...shared.map(({ window }) => window));
    for (const { settings } of shared) this.#windows.set(settings.model, least);
  }

  #lookup(name: string | null): AnyModel {
    if (name === null) return this.#plainModel(this.#usual?.model ?? '');
    return this.#declared.get(name) ?? this.#plainModel(name);
  }

  #plainModel(name: string): ResolvedModel {
    const known = this.#plain.get(name);
    if (known !== undefined) return known;
    const access = this.#accesses.of(null);
    const notice = this.#usual?.notice ?? null;
    // The offline model goes by one name only.
    const model = access.dialect === 'builtin' ? 'builtin' : name;
    const declared: Declared = {
      kind: null,
      model,
      reasoning: null,
      max_output_tokens: null,
      structured_output: null,
    };
    const resolved: ResolvedModel = {
      kind: 'chat',
      name: model,
      settings: settingsOf(this.#config, access, declared),
      credentials: access.credentials,
      fallbacks: [],
      window: this.windowOf({ model }),
      notice,
    };
    this.#plain.set(name, resolved);
    return resolved;
  }

  #declare(name: string): AnyModel {
    const known = this.#declared.get(name);
    if (known !== undefined) return known;
    const { models } = this.#config.intelligence;
    const declared = models[name];
    if (declared === undefined) throw new Unreachable(`intelligence.models: there is no ${name}`);
    const access = this.#accesses.of(declared.provider);
    const settings = settingsOf(this.#config, access, declared);
    const { credentials } = access;
    const window = this.#config.context.model_window ?? declared.window ?? windowByName(declared.model);
    const resolved = ((): AnyModel => {
      if (declared.kind === 'decision')
        return {
          kind: 'decision',
          name,
          url: settings.url,
          settings,
          credentials,
          fallbacks: [],
          window,
          notice: null,
        };
      const next = declared.fallback === null ? null : this.#declare(declared.fallback);
      const fallbacks =
        next === null ? [] : [{ settings: next.settings, credentials: next.credentials }, ...next.fallbacks];
      const notice = declared.provider === null ? (this.#usual?.notice ?? null) : null;
      return { kind: declared.kind ?? 'chat', name, settings, credentials, fallbacks, window, notice };
    })();
    this.#declared.set(name, resolved);
    const least = Math.min(window, this.#windows.get(declared.model) ?? window);
    this.#windows.set(declared.model, least);
    return resolved;
  }
}

function talking(model: AnyModel, path: string): ResolvedModel {
  if (model.kind === 'decision')
    throw new Unreachable(`${path}: ${model.name} only decides: name a model that talks`);
  return model;
}
