// What models, providers, roles and routes must not say of each other: names that nobody bears, fallbacks in a circle,
// and jobs for models that cannot do them. Pure.
import type { ModelConfig } from './models-schema.js';
import { nearest } from './nearest.js';
import type { Place } from './problem.js';
import type { Config } from './schema.js';

interface Contradiction {
  readonly path: string;
  readonly message: string;
  readonly suggestion?: string | undefined;
}

type Intelligence = Config['intelligence'];

const MODELS = 'intelligence.models';

export function modelContradictions(config: Config, placeOf: (path: string) => Place): Contradiction[] {
  const { intelligence } = config;
  const { models } = intelligence;
  return [
    ...Object.entries(intelligence.providers).flatMap(([name, provider]) => ofConnection(name, provider)),
    ...Object.entries(models).flatMap(([name, model]) => ofModel(name, model, intelligence)),
    ...circles(models),
    ...ofRoles(intelligence, placeOf),
    ...ofRoutes(config),
  ];
}

function unknown(path: string, name: string, what: string, known: readonly string[]): Contradiction {
  return { path, message: `names no ${what}: there is no ${name}`, suggestion: nearest(name, known) };
}

function ofConnection(name: string, provider: Intelligence['providers'][string]): Contradiction[] {
  const at = `intelligence.providers.${name}`;
  const { auth, dialect, endpoints, token } = provider;
  const found: Contradiction[] = [];
  const tell = (path: string, message: string): void => void found.push({ path, message });
  if (dialect === null && endpoints === null && auth === null)
    tell(at, 'says neither where it is nor what it speaks: give endpoints or dialect');
  if (dialect === 'builtin' && (endpoints !== null || token !== null))
    tell(at, 'the built-in model has no endpoint and takes no token: remove them, or choose another dialect');
  if (auth === null) return found;
  if (dialect !== null && dialect !== 'bedrock')
    tell(`${at}.auth`, 'only the dialect bedrock signs requests: remove it, or choose that dialect');
  if (token !== null) tell(`${at}.auth`, 'stands beside a token; keep one of the two');
  if ((auth.access_key_id === null) !== (auth.secret_access_key === null))
    tell(`${at}.auth`, 'access_key_id and secret_access_key belong together');
  if (auth.session_token !== null && auth.access_key_id === null)
    tell(`${at}.auth.session_token`, 'belongs to an access_key_id and a secret_access_key');
  return found;
}

function ofModel(name: string, model: ModelConfig, intelligence: Intelligence): Contradiction[] {
  const { models, providers } = intelligence;
  const at = `${MODELS}.${name}`;
  const { fallback, kind, provider } = model;
  const found: Contradiction[] = [];
  if (provider !== null && !Object.hasOwn(providers, provider))
    found.push(unknown(`${at}.provider`, provider, 'provider', Object.keys(providers)));
  if (model.reasoning !== null && kind !== 'reasoning')
    found.push({ path: `${at}.reasoning`, message: 'is for a reasoning model: set kind to reasoning' });
  if (kind === 'decision') return [...found, ...ofDecision(at, model, intelligence)];
  if (fallback === null) return found;
  const next = Object.hasOwn(models, fallback) ? models[fallback] : undefined;
  if (next === undefined)
    found.push(unknown(`${at}.fallback`, fallback, 'model of intelligence.models', Object.keys(models)));
  else if (next.kind === 'decision')
    found.push({
      path: `${at}.fallback`,
      message: `${fallback} only decides: it cannot go on with a conversation`,
    });
  return found;
}

/** Its requests have a form of their own: the whole URL is what the operator gives. */
function ofDecision(at: string, model: ModelConfig, intelligence: Intelligence): Contradiction[] {
  const found: Contradiction[] = [];
  if (model.fallback !== null)
    found.push({
      path: `${at}.fallback`,
      message: 'a decision model has none: without it there is no verdict',
    });
  const { provider } = model;
  const endpoints = provider === null ? intelligence.endpoints : intelligence.providers[provider]?.endpoints;
  if (endpoints === null)
    found.push({ path: at, message: 'a decision model needs the endpoints of its provider' });
  return found;
}

/** Each circle once, at the first of its models. */
function circles(models: Intelligence['models']): Contradiction[] {
  const told = new Set<string>();
  return Object.keys(models).flatMap((start) => {
    const way: string[] = [];
    let name: string | null = start;
    while (name !== null && Object.hasOwn(models, name) && !way.includes(name)) {
      way.push(name);
      name = models[name]?.fallback ?? null;
    }
    if (name !== start || way.some((one) => told.has(one))) return [];
    for (const one of way) told.add(one);
    return [
      { path: `${MODELS}.${start}.fallback`, message: `goes in a circle: ${[...way, start].join(' to ')}` },
    ];
  });
}

/** These only ever talk. */
const TALKING: readonly string[] = ['turn', 'compaction', 'think'];

function ofRoles(intelligence: Intelligence, placeOf: (path: string) => Place): Contradiction[] {
  const { model, models, roles } = intelligence;
  const known = Object.keys(models);
  const found: Contradiction[] = [];
  const check = (path: string, role: string, name: string | null): void => {
    if (name === null) return;
    const declared = Object.hasOwn(models, name) ? models[name] : undefined;
    if (declared?.kind === 'decision' && TALKING.includes(role))
      found.push({ path, message: `${name} only decides: name a chat or reasoning model` });
    // Where models are declared, a role means one of them, or the one that stands beside them.
    const misspelt = known.length > 0 && declared === undefined && name !== model;
    if (misspelt && !isTyped(placeOf(path)))
      found.push(unknown(path, name, 'model of intelligence.models', known));
  };
  for (const [role, name] of Object.entries(roles)) check(`intelligence.roles.${role}`, role, name);
  const declared = model !== null && Object.hasOwn(models, model) ? models[model] : undefined;
  if (declared?.kind === 'decision') check('intelligence.model', 'turn', model);
  const turnPath = 'intelligence.roles.turn';
  if (roles.turn !== null && model !== null && roles.turn !== model && !isTyped(placeOf(turnPath)))
    found.push({ path: turnPath, message: `and intelligence.model (${model}) are the same thing; keep one` });
  return found;
}

/** By a person, just now: a model that nobody declared is then what they want to try. */
function isTyped({ file }: Place): boolean {
  return file === 'flag' || file.startsWith('$');
}

function ofRoutes({ agent, intelligence }: Config): Contradiction[] {
  const { models, routes } = intelligence;
  const names = Object.keys(routes);
  const found = names.flatMap((name): Contradiction[] => {
    const path = `intelligence.routes.${name}`;
    const model = Object.hasOwn(models, name) ? models[name] : undefined;
    if (model === undefined)
      return [unknown(path, name, 'model of intelligence.models', Object.keys(models))];
    return model.kind === 'decision'
      ? [{ path, message: `${name} only decides: a turn cannot run on it` }]
      : [];
  });
  if (names.length > 0 && agent.preflight === 'never')
    found.push({
      path: 'intelligence.routes',
      message: 'are chosen by the look at a message before its turn, and agent.preflight says never',
    });
  return found;
}

/** Names under which calls may be booked, by whatever name a server knows the model. */
export function bookedModels({ dialect, model, models, roles }: Intelligence): string[] {
  const wire = (name: string): string => models[name]?.model ?? name;
  const plain = [roles.turn ?? model, roles.preflight, roles.compaction, roles.think, roles.decide];
  const named = plain.filter((name) => name !== null).map(wire);
  const turn = named.length === 0 && dialect === 'builtin' ? ['builtin'] : named;
  return [...new Set([...turn, ...Object.values(models).map((one) => one.model)])];
}
