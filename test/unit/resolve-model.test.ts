// Which model a supervisor uses: what is configured, what the environment offers, what runs on this machine.
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import { loadConfig } from '../../config/load.js';
import { systemClock } from '../../shared/clock.js';
import { probeLocalServer } from '../../supervisor/intelligence/probe-local.js';
import { resolveModel } from '../../supervisor/intelligence/resolve-model.js';

async function resolved(t: Test, flags: Record<string, string>, env: NodeJS.ProcessEnv = {}) {
  const loaded = await loadConfig({ env, cwd: t.testdir({}), flags });
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
  const resolution = await resolveModel(loaded.config, env, systemClock);
  if (!resolution.ok) throw new Error(resolution.message);
  return resolution.model;
}

async function serving(t: Test, answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

t.test('a temperature goes to models that take one, and to no other', async (t) => {
  const cases = [
    ['openai', 'gpt-4.1', 0],
    ['openai', 'qwen3:8b', 0],
    ['openai', 'gpt-5-mini', null],
    ['openai', 'o3', null],
    ['openai', 'someone/o4-mini', null],
    ['openai', 'olmo-2', 0],
    ['anthropic', 'claude-sonnet', null],
  ] as const;
  for (const [dialect, model, temperature] of cases) {
    const { settings } = await resolved(t, {
      'intelligence.dialect': dialect,
      'intelligence.model': model,
      'intelligence.endpoints': 'http://127.0.0.1:1',
    });
    t.equal(settings.temperature, temperature, model);
  }
});

t.test(
  'of two keys in the environment the first kind is used, and what is configured outranks both',
  async (t) => {
    const env = { OPENAI_API_KEY: 'key-of-one-kind', ANTHROPIC_API_KEY: 'key-of-the-other' };
    t.match(await resolved(t, {}, env), {
      settings: { dialect: 'openai' },
      credentials: { token: 'key-of-one-kind' },
    });
    t.match(await resolved(t, {}, { ...env, OPENAI_API_KEY: '' }), {
      settings: { dialect: 'anthropic' },
      credentials: { token: 'key-of-the-other' },
    });
    const builtin = await resolved(t, { 'intelligence.dialect': 'builtin' }, env);
    t.equal(builtin.settings.dialect, 'builtin');
    t.equal(builtin.credentials.token, undefined);
  },
);

t.test('a server on this machine is asked once, and believed only when it names a model', async (t) => {
  let asked = 0;
  const good = await serving(t, (request, response) => {
    asked += 1;
    t.equal(request.url, '/v1/models');
    response.end('{"data":[{"id":"small"},{"id":"large"}]}');
  });
  t.equal(await probeLocalServer(systemClock, good), 'small');
  t.equal(asked, 1);
  for (const body of ['', '[]', '{"data":[]}', '{"data":[{"id":7}]}', '<html>'])
    t.equal(await probeLocalServer(systemClock, await serving(t, (_, response) => response.end(body))), null);
  const refusing = await serving(t, (_, response) => {
    response.statusCode = 500;
    response.end('{"data":[{"id":"small"}]}');
  });
  t.equal(await probeLocalServer(systemClock, refusing), null);
  const started = process.hrtime.bigint();
  t.equal(await probeLocalServer(systemClock, await serving(t, () => undefined)), null);
  t.equal(await probeLocalServer(systemClock, 'http://127.0.0.1:1'), null);
  t.ok(process.hrtime.bigint() - started < 2_000_000_000n, 'one that is silent or absent holds nobody up');
});
