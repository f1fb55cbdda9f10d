// Which provider serves which dialect. A dialect is loaded when it is first used: a turn pays only for its own.
import type { Clock } from '../../shared/clock.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { Dialect as WireDialect } from './dialect.js';
import type { ModelProvider } from './provider.js';

type Dialect = ModelSettings['dialect'];

/** Each behind an import of its own, so that no other is loaded with it. */
const OVER_HTTP: Readonly<Record<Exclude<Dialect, 'builtin'>, () => Promise<WireDialect>>> = {
  openai: async () => (await import('./openai.js')).openaiDialect,
  openai_responses: async () => (await import('./responses.js')).responsesDialect,
  anthropic: async () => (await import('./anthropic.js')).anthropicDialect,
  bedrock: async () => (await import('./bedrock.js')).bedrockDialect,
  decision: async () => (await import('./decision.js')).decisionDialect,
};

async function providerOf(name: Dialect, clock: Clock): Promise<ModelProvider> {
  if (name === 'builtin') return (await import('./builtin/provider.js')).builtinProvider(clock);
  const [{ httpProvider }, { Connections }, dialect] = await Promise.all([
    import('./http-provider.js'),
    import('./connections.js'),
    OVER_HTTP[name](),
  ]);
  return httpProvider(dialect, new Connections(clock), clock);
}

/** The provider for these settings. Keep it for the whole turn: its connections are its own. */
export function providerFor(settings: ModelSettings, clock: Clock): ModelProvider {
  let loaded: ModelProvider | undefined;
  let closed = false;
  const loading = providerOf(settings.dialect, clock).then((provider) => {
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
