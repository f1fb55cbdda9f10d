// Which provider serves which dialect. A dialect is loaded when it is first used: a turn pays only for its own.
import type { Clock } from '../../shared/clock.js';
import type { Dialect, ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { Dialect as WireDialect } from './dialect.js';
import type { ModelProvider } from './provider.js';

type Load = (clock: Clock) => Promise<ModelProvider>;

async function dialectOf(name: 'openai' | 'anthropic'): Promise<WireDialect> {
  if (name === 'openai') {
    const { openaiDialect } = await import('./openai.js');
    return openaiDialect;
  }
  const { anthropicDialect } = await import('./anthropic.js');
  return anthropicDialect;
}

async function overHttp(name: 'openai' | 'anthropic', clock: Clock): Promise<ModelProvider> {
  const [{ httpProvider }, { Connections }, dialect] = await Promise.all([
    import('./http-provider.js'),
    import('./connections.js'),
    dialectOf(name),
  ]);
  return httpProvider(dialect, new Connections(clock), clock);
}

const DIALECTS: Readonly<Record<Dialect, Load>> = {
  openai: (clock) => overHttp('openai', clock),
  anthropic: (clock) => overHttp('anthropic', clock),
  builtin: async (clock) => (await import('./builtin/provider.js')).builtinProvider(clock),
};

/** The provider for these settings. Keep it for the whole turn: its connections are its own. */
export function providerFor(settings: ModelSettings, clock: Clock): ModelProvider {
  let loaded: ModelProvider | undefined;
  let closed = false;
  const loading = DIALECTS[settings.dialect](clock).then((provider) => {
    loaded = provider;
    if (closed) provider.close();
    return provider;
  });
  return {
    async call(request, onEvent, signal) {
      return (loaded ?? (await loading)).call(request, onEvent, signal);
    },
    async preconnect(given, ca) {
      const provider = loaded ?? (await loading);
      return closed ? false : provider.preconnect(given, ca);
    },
    close() {
      closed = true;
      loaded?.close();
    },
  };
}
