// Which model is reached how, and with which credentials: what configuration and environment together come to.
import t from 'tap';
import { loadConfig } from '../../config/load.js';
import { systemClock } from '../../shared/clock.js';
import { requestUrl, resolveModel, secretsOf } from '../../supervisor/intelligence/resolve-model.js';

type Model = Extract<Awaited<ReturnType<typeof resolveModel>>, { ok: true }>['model'];

async function resolved(flags: Record<string, string>, env: NodeJS.ProcessEnv = {}): Promise<Model | string> {
  const loaded = await loadConfig({ env, cwd: '/', flags });
  if (!loaded.ok) return loaded.problems.map(({ message }) => message).join('; ');
  const resolution = await resolveModel(loaded.config, env, systemClock);
  return resolution.ok ? resolution.model : resolution.message;
}

const KEYS = { AWS_ACCESS_KEY_ID: 'AKIDENV', AWS_SECRET_ACCESS_KEY: 'secret-env' };
const BEDROCK = { 'intelligence.dialect': 'bedrock', 'intelligence.model': 'eu.anthropic.claude-x-v1:0' };

t.test('a responses server is reached by its base, its version or its whole URL', async (t) => {
  const whole = 'https://h.example/v1/responses';
  for (const base of ['https://h.example', 'https://h.example/v1/', whole])
    t.equal(requestUrl('openai_responses', base), whole, base);
  t.match(await resolved({ 'intelligence.dialect': 'openai_responses', 'intelligence.model': 'gpt-5.1' }), {
    settings: { url: 'https://api.openai.com/v1/responses', temperature: null, structured_output: 'auto' },
  });
  t.match(await resolved({ 'intelligence.dialect': 'openai_responses', 'intelligence.model': 'gpt-4.1' }), {
    settings: { temperature: 0 },
  });
});

t.test('Bedrock is reached in its region, the model in the path', async (t) => {
  const path = '/model/eu.anthropic.claude-x-v1%3A0/converse-stream';
  t.match(await resolved(BEDROCK, { ...KEYS, AWS_REGION: 'eu-central-1' }), {
    settings: { url: `https://bedrock-runtime.eu-central-1.amazonaws.com${path}`, temperature: null },
    credentials: {
      aws: { region: 'eu-central-1', access_key_id: 'AKIDENV', secret_access_key: 'secret-env' },
    },
    notice: null,
  });
  t.match(await resolved(BEDROCK, { ...KEYS, AWS_DEFAULT_REGION: 'cn-north-1' }), {
    settings: { url: `https://bedrock-runtime.cn-north-1.amazonaws.com.cn${path}` },
  });
  const endpoint = 'https://vpce-1.bedrock-runtime.us-west-2.vpce.amazonaws.com';
  t.match(
    await resolved(
      { ...BEDROCK, 'intelligence.endpoints': `${endpoint}/model/any/converse-stream` },
      { ...KEYS, AWS_REGION: 'eu-central-1' },
    ),
    { settings: { url: `${endpoint}${path}` }, credentials: { aws: { region: 'us-west-2' } } },
    'the region of the endpoint is the one that is signed for',
  );
  t.match(
    await resolved(
      { ...BEDROCK, 'intelligence.model': 'amazon.nova-pro-v1:0' },
      { ...KEYS, AWS_REGION: 'us-east-1' },
    ),
    {
      settings: { temperature: 0 },
    },
  );
  const profile = 'arn:aws:bedrock:us-east-1:1:application-inference-profile/x';
  t.match(
    await resolved({ ...BEDROCK, 'intelligence.model': profile }, { ...KEYS, AWS_REGION: 'us-east-1' }),
    {
      settings: {
        temperature: null,
        url: /\/model\/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Aapplication-inference-profile%2Fx\/converse-stream$/,
      },
    },
  );
});

t.test('keys of the configuration win whole over those of the environment, and all are masked', async (t) => {
  const model = await resolved(
    {
      'intelligence.model': 'm',
      'intelligence.auth.kind': 'aws',
      'intelligence.auth.region': 'ap-south-1',
      'intelligence.auth.access_key_id': '{{secret:MY_ID}}',
      'intelligence.auth.secret_access_key': '{{secret:MY_SECRET}}',
    },
    { ...KEYS, AWS_SESSION_TOKEN: 'session-env', MY_ID: 'AKIDMINE', MY_SECRET: 'secret-mine' },
  );
  t.type(model, 'object');
  if (typeof model === 'string') return;
  t.equal(model.settings.dialect, 'bedrock', 'keys alone say so');
  t.strictSame(model.credentials.aws, {
    region: 'ap-south-1',
    access_key_id: 'AKIDMINE',
    secret_access_key: 'secret-mine',
  });
  const session = await resolved(BEDROCK, { ...KEYS, AWS_REGION: 'x-1', AWS_SESSION_TOKEN: 'session-env' });
  if (typeof session === 'string') return t.fail(session);
  t.strictSame(secretsOf(session.credentials), ['AKIDENV', 'secret-env', 'session-env']);
  t.notMatch(JSON.stringify(session.settings), 'env');
});

t.test('a token is sent instead of keys, and a region is then needed only for the address', async (t) => {
  const token = { ...BEDROCK, 'intelligence.token': '{{secret:T}}' };
  const model = await resolved(
    { ...token, 'intelligence.endpoints': 'http://127.0.0.1:1' },
    { T: 'tok', ...KEYS },
  );
  t.match(model, { credentials: { token: 'tok' } });
  t.notOk(typeof model === 'object' && 'aws' in model.credentials);
  t.match(await resolved(token, { T: 'tok' }), /needs a region/);
});

t.test('what is missing is said, without any value', async (t) => {
  t.match(await resolved({ 'intelligence.dialect': 'bedrock' }, KEYS), /needs the id of a model/);
  t.match(await resolved(BEDROCK, KEYS), /needs a region; set it, or AWS_REGION/);
  t.match(await resolved(BEDROCK, { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'x' }), /needs keys/);
  t.match(await resolved(BEDROCK, { ...KEYS, AWS_REGION: 'evil.example/' }), /expected a region/);
  const odd = await resolved(BEDROCK, { ...KEYS, AWS_REGION: 'x-1', AWS_SESSION_TOKEN: 'canary\nvalue' });
  t.match(odd, /characters that no key has/);
  t.notMatch(odd, 'canary');
});

t.test('keys that cannot be meant are refused at load', async (t) => {
  const id = { 'intelligence.auth.access_key_id': '{{secret:A}}' };
  const env = { A: 'AKIDX', T: 'tok' };
  t.match(await resolved({ ...BEDROCK, ...id }, env), /belong together/);
  t.match(
    await resolved({ ...BEDROCK, 'intelligence.auth.session_token': '{{secret:A}}' }, env),
    /belongs to an access_key_id/,
  );
  t.match(
    await resolved({ 'intelligence.dialect': 'openai', 'intelligence.auth.kind': 'aws' }, env),
    /only the dialect bedrock/,
  );
  t.match(
    await resolved(
      { ...BEDROCK, 'intelligence.token': '{{secret:T}}', 'intelligence.auth.kind': 'aws' },
      env,
    ),
    /keep one of the two/,
  );
  t.match(
    await resolved({ ...BEDROCK, 'intelligence.auth.secret_access_key': 'plain-text' }, env),
    /a credential must not stand here/,
  );
});
