// A process of its own that keeps a daemon's turns: real store, real workers, a model server of the test. It takes up
// what is there, accepts its two messages (once, however often it is started), sees them through and leaves. It may be
// killed at any durable write (TURND_TEST_KILL_AT). Its arguments: state directory, URL of the model, workspace.
import { loadConfig } from '../../config/load.js';
import { systemClock } from '../../shared/clock.js';
import { makeMasker } from '../../shared/mask.js';
import { composeSupervisor } from '../../supervisor/compose.js';
import type { ModelCatalogue } from '../../supervisor/intelligence/model-catalogue.js';
import type { ResolvedModel } from '../../supervisor/intelligence/resolve-model.js';
import { makeLogger } from '../../supervisor/observe/logger.js';
import { makeWarmPool } from '../../supervisor/processes/warm-pool.js';
import { recoverStore } from '../../supervisor/recover-store.js';
import { loadTemplate } from '../../supervisor/snapshot/load-template.js';
import { openStore } from '../../supervisor/store/open.js';
import { SETTINGS } from './played-turn.js';

const [dir = '', url = '', workspaceRoot = ''] = process.argv.slice(2);
const clock = systemClock;

async function main(): Promise<void> {
  const loaded = await loadConfig({ env: {}, cwd: workspaceRoot, flags: {} });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const { config } = loaded;
  const logger = makeLogger('error');
  const opened = openStore({ dir, on_damage: 'stop', nowMs: clock.now() });
  if (!opened.ok) throw new Error(opened.failure.message);
  const { store } = opened;
  const withBudget = {
    ...config,
    agent: { ...config.agent, park_after_ms: 0, preflight: 'never' as const },
    intelligence: {
      ...config.intelligence,
      budget: { ...config.intelligence.budget, lifetime: { tokens: 10_000_000, cost: null } },
    },
  };
  const limits = { cancelGraceMs: 500, killGraceMs: 500, progressMs: 60_000, pongMs: 10_000 };
  const pool = makeWarmPool({ spares: 1, replaceUsed: true, clock, ...limits });
  await recoverStore(store, withBudget, clock, logger);
  const supervisor = composeSupervisor({
    ...{ config: withBudget, clock, store, pool, logger, workspaceRoot, secrets: [], role: 'daemon' },
    masker: makeMasker([]),
    catalogue: oneModel(url),
    template: loadTemplate(null),
    security: { mode: 'full_access', source: 'default', containment: [], web_allow_private: [] },
    ask: () => Promise.resolve('nobody'),
  });
  supervisor.open();
  const accept = (name: string): string => {
    const message = { threadId: 'root', workspaceRoot, principal: 'operator', text: name };
    const accepted = supervisor.accept({ ...message, eventId: `event_${name}` });
    if (!accepted.ok) throw new Error(accepted.message);
    return accepted.turnId;
  };
  const turns = ['first', 'second'].map(accept);
  await Promise.all(turns.map((turnId) => supervisor.whenSettled(turnId)));
  await supervisor.drain();
  await pool.close();
  store.close();
  process.stdout.write('done\n');
}

function oneModel(endpoint: string): ModelCatalogue {
  const patience = { connect_ms: 5_000, first_byte_ms: 5_000, idle_ms: 5_000, call_ms: 5_000 };
  const model: ResolvedModel = {
    settings: { ...SETTINGS, url: endpoint, ...patience },
    credentials: { headers: {} },
    ...{ kind: 'chat', name: 'scripted', fallbacks: [], window: 128_000, notice: null },
  };
  return {
    turn: model,
    modelFor: () => model,
    named: () => undefined,
    routes: [],
    route: () => undefined,
    windowOf: () => model.window,
    models: [model.settings.model],
    secrets: [],
  };
}

await main();
