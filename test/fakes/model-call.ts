// Calls a provider the way the turn loop does, against the fake model server, with everything defaulted that a test
// does not care about.
import { type Clock, systemClock } from '../../shared/clock.js';
import type { AwsKeys, ModelSettings, TurnCredentials } from '../../shared/ipc/turn-snapshot.js';
import type { PlannedTool } from '../../shared/tools/tool-plan.js';
import type { ModelEvent, ModelOutcome, ModelProvider, ModelRequest } from '../../worker/models/provider.js';
import { providerFor } from '../../worker/models/registry.js';
import { type FakeModel, type FakeModelOptions, startFakeModel } from './fake-model-server.js';
import type { HttpDialect } from './model-steps.js';

/** The limits of the default configuration, where time runs `factor` times faster. */
export function hurried(factor: number): Clock {
  return {
    now: () => systemClock.now(),
    monotonic: () => systemClock.monotonic() * factor,
    after: (delayMs, callback) => systemClock.after(delayMs / factor, callback),
  };
}

export function plannedTool(name: string): PlannedTool {
  return {
    name,
    wire_name: name.replace('.', '_'),
    description: `Does ${name}.`,
    input_schema: { type: 'object', properties: {} },
    runs: 'worker',
    read_only: true,
    polls: false,
  };
}

type EndpointEvent = Extract<ModelEvent, { kind: 'endpoint' }>;

export interface Told {
  readonly outcome: ModelOutcome;
  /** What a person may see of it, in order. */
  readonly events: readonly Exclude<ModelEvent, EndpointEvent>[];
  readonly endpoints: readonly EndpointEvent[];
}

export interface CallOptions {
  readonly settings?: Partial<ModelSettings>;
  readonly credentials?: Partial<TurnCredentials>;
  readonly request?: Partial<ModelRequest>;
  readonly signal?: AbortSignal;
  readonly onEvent?: (event: ModelEvent) => void;
}

export interface Bench {
  readonly model: FakeModel;
  readonly provider: ModelProvider;
  readonly settings: ModelSettings;
  call(options?: CallOptions): Promise<Told>;
  close(): Promise<void>;
}

export interface BenchOptions extends FakeModelOptions {
  readonly dialect: HttpDialect;
  readonly clock?: Clock;
  readonly settings?: Partial<ModelSettings>;
}

/** The secret is the same canary that is the token elsewhere. */
export const AWS_KEYS: AwsKeys = {
  region: 'eu-central-1',
  access_key_id: 'AKIDCANARY',
  secret_access_key: 'canary-key-123',
};

function urlOf(model: FakeModel, dialect: HttpDialect): string {
  switch (dialect) {
    case 'openai':
      return model.openaiUrl;
    case 'openai_responses':
      return model.responsesUrl;
    case 'anthropic':
      return model.anthropicUrl;
    case 'bedrock':
      return model.bedrockUrl('test-model');
  }
}

/** A fake server and a provider for it. */
export async function modelBench(options: BenchOptions): Promise<Bench> {
  const model = await startFakeModel(options);
  const clock = options.clock ?? hurried(20);
  const settings: ModelSettings = {
    dialect: options.dialect,
    model: 'test-model',
    url: urlOf(model, options.dialect),
    headers: {},
    max_output_tokens: 0,
    temperature: null,
    omit: [],
    connect_ms: 60_000,
    first_byte_ms: 120_000,
    idle_ms: 60_000,
    call_ms: 600_000,
    retries: 3,
    retry_after_max_ms: 60_000,
    ...options.settings,
  };
  const provider = providerFor(settings, clock);
  const call = async (given: CallOptions = {}): Promise<Told> => {
    const events: Exclude<ModelEvent, EndpointEvent>[] = [];
    const endpoints: EndpointEvent[] = [];
    const request: ModelRequest = {
      settings: { ...settings, ...given.settings },
      credentials: {
        ...(settings.dialect === 'bedrock' ? { aws: AWS_KEYS } : { token: 'canary-key-123' }),
        headers: {},
        mask: ['canary-key-123'],
        ...(model.ca === undefined ? {} : { ca: model.ca }),
        ...given.credentials,
      },
      system_prompt: 'Be brief.',
      messages: [{ role: 'user', text: 'Hello.' }],
      tools: [],
      deadline_ms: 3_600_000,
      ...given.request,
    };
    const onEvent = (event: ModelEvent): void => {
      if (event.kind === 'endpoint') {
        endpoints.push(event);
        return;
      }
      events.push(event);
      given.onEvent?.(event);
    };
    const outcome = await provider.call(request, onEvent, given.signal ?? new AbortController().signal);
    return { outcome, events, endpoints };
  };
  const close = async (): Promise<void> => {
    provider.close();
    await model.close();
  };
  return { model, provider, settings, call, close };
}
