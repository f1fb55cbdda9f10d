// The part of the configuration that says which models there are, where each is reached, and which job each one does.
import { DIALECTS, REASONING_EFFORTS, STRUCTURED_OUTPUTS } from '../shared/ipc/turn-snapshot.js';
import { modelName } from './budget-schema.js';
import { endpoints, headers, secret } from './credentials.js';
import { choice, count, group, optional, path, text } from './leaf.js';
import { type RecordOf, record, table, texts } from './records.js';

const NAME = /^[A-Za-z0-9][A-Za-z0-9._:/-]{0,99}$/;
const name = (description: string) =>
  text(description, { max: 100, pattern: NAME, expected: 'expected a name: letters, digits, . _ - : /' });

const region = text('AWS region. Without it: that of the endpoint, else `AWS_REGION`.', {
  max: 64,
  pattern: /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
  expected: 'expected a region such as eu-central-1',
});

const AUTH = {
  kind: optional(
    choice('How requests are signed: `aws` for Bedrock, with the keys below or those of the environment.', [
      'aws',
    ]),
  ),
  region: optional(region),
  access_key_id: optional(secret('AWS access key. Without it: `AWS_ACCESS_KEY_ID`.')),
  secret_access_key: optional(secret('AWS secret key. Without it: `AWS_SECRET_ACCESS_KEY`.')),
  session_token: optional(secret('Token of temporary AWS keys. Without keys here: `AWS_SESSION_TOKEN`.')),
};
export const auth = group('Keys for servers that want signed requests, as secret references.', AUTH);

/** The words of a connection, the same for the usual one and for each named provider. */
const CONNECTION = {
  endpoints: optional(
    endpoints(
      'URL of the model server, its base or the full URL of its requests; or a list of such, tried in order.',
    ),
  ),
  dialect: optional(
    choice(
      'Language the server speaks: chat completions, responses, messages, Bedrock Converse, or the built-in offline model.',
      DIALECTS,
    ),
  ),
  token: optional(secret('Credential of the model server, as a secret reference.')),
  ca_file: optional(
    path('PEM file of certificate authorities to trust beside the usual ones.', { file: true }),
  ),
};
export const { endpoints: usualEndpoints, dialect, token, ca_file: caFile } = CONNECTION;

const HEADERS = 'Further request headers. Those that carry a credential must be secret references.';
export const usualHeaders = headers(HEADERS);

const STRUCTURED =
  'How a model is told the schema of an answer: by its own option, in the prompt, or as it can.';
export const structuredOutput = choice(STRUCTURED, STRUCTURED_OUTPUTS);

const PROVIDER = {
  ...CONNECTION,
  headers: optional(headers(HEADERS)),
  auth: optional(record('Keys for servers that want signed requests, as secret references.', AUTH)),
  structured_output: optional(choice(STRUCTURED, STRUCTURED_OUTPUTS)),
};
export type ProviderConfig = RecordOf<typeof PROVIDER>;

export const providers = table(
  'Further model servers by name: {endpoints, dialect, token, headers, auth, structured_output, ca_file}.',
  NAME,
  PROVIDER,
);

const MODEL_KINDS = ['chat', 'reasoning', 'decision'] as const;

const MODEL = {
  kind: optional(
    choice('What it does: it talks, it thinks before it talks, or it only decides.', MODEL_KINDS),
  ),
  provider: optional(name('One of intelligence.providers; left out: the usual connection.')),
  model: modelName('Name of the model, as its server knows it.'),
  window: optional(count('Tokens that it reads at once.', { min: 2_000, max: 10_000_000 })),
  fallback: optional(name('One of intelligence.models: goes on in its place when it cannot be reached.')),
  reasoning: optional(
    record('How a reasoning model thinks.', {
      effort: choice('How hard it thinks.', REASONING_EFFORTS),
    }),
  ),
  max_output_tokens: optional(
    count('Cap of one answer, without its thinking. 0 leaves it to the server.', { min: 0, max: 1_000_000 }),
  ),
  structured_output: optional(choice(STRUCTURED, STRUCTURED_OUTPUTS)),
};
export type ModelConfig = RecordOf<typeof MODEL>;

export const models = table(
  'Models by name: {kind, provider, model, window, fallback, reasoning, max_output_tokens, structured_output}.',
  NAME,
  MODEL,
);

const role = (what: string) =>
  optional(modelName(`${what}: one of intelligence.models, or the name of a model.`));

export const roles = group('Which model does which job. Left out: the one of `turn`.', {
  turn: role('The turns themselves. Left out: intelligence.model'),
  preflight: role('The look at a message before its turn'),
  compaction: role('Summaries of long conversations'),
  think: role('What the `think` tool asks'),
  decide: role('What the `decide` tool asks'),
});

export const routes = texts(
  'Models that a message may be sent to instead of the one of `turn`: the name of one of intelligence.models, and for which work.',
  NAME,
  text('For which work.', { max: 1_000 }),
);
