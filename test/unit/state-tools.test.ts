// The tools whose state the supervisor owns: their params as a model may send them, and what they do to the store.
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import type { JsonObject } from '../../shared/json.js';
import { CATALOGUE } from '../../shared/tools/catalogue.js';
import { STATE_TOOLS_RUN } from '../../supervisor/tools/registry.js';
import { THREAD, TURN_ID } from '../fakes/open-store.js';
import { accepts, stage } from '../fakes/state-tool-stage.js';

t.test('every tool that the supervisor runs has a behaviour, and every behaviour a tool', (t) => {
  const specs = CATALOGUE.filter((spec) => spec.runs === 'supervisor' && !spec.waits).map(
    (spec) => spec.name,
  );
  t.same(Object.keys(STATE_TOOLS_RUN).sort(), specs.sort());
  t.end();
});

t.test('finish takes one of its four statuses and nothing that it does not know', (t) => {
  const { ok } = stage(t);
  for (const status of ['completed', 'failed', 'refused', 'cancelled'])
    t.same(ok('finish', { status }), { ok: true });
  t.same(ok('finish', { status: 'completed', output: { a: [1] }, reason: 'because' }), { ok: true });
  for (const args of [{}, { status: 'done' }, { status: 'failed', exit: 'yes' }])
    t.notOk(accepts('finish', args));
  t.end();
});

t.test('memory keeps any JSON, replaces, forgets on request and in time', (t) => {
  const { ok } = stage(t);
  t.same(ok('memory.get', { key: 'k' }), { found: false });
  for (const value of [null, false, 0, '', [1, { a: 'ü' }], { deep: { er: [] } }]) {
    t.match(ok('memory.set', { key: 'k', value }), {
      ok: true,
      meta: { updated_at_ms: 1_000, expires_at_ms: null },
    });
    t.same(ok('memory.get', { key: 'k' })['value'], value);
  }
  ok('memory.set', { key: 'short', value: 1, ttl_seconds: 5 });
  t.match(ok('memory.get', { key: 'short' }, { nowMs: 5_999 }), {
    found: true,
    meta: { expires_at_ms: 6_000 },
  });
  t.same(ok('memory.get', { key: 'short' }, { nowMs: 6_000 }), { found: false });
  t.same(ok('memory.delete', { key: 'short' }, { nowMs: 6_000 }), { ok: true, found: false });
  t.same(ok('memory.delete', { key: 'k' }), { ok: true, found: true });
  t.same(ok('memory.list'), { keys: [], truncated: false });
  t.end();
});

t.test('a key has no whitespace, is not ours (_) and not too long; a value has to be there', (t) => {
  const key = (text: string): boolean => accepts('memory.set', { key: text, value: 1 });
  for (const good of ['a', 'a/b:c.d', 'ü', 'x'.repeat(256), 'a_']) t.ok(key(good), good);
  for (const bad of ['', '_a', 'a b', 'a\n', 'a\0', ' a', 'x'.repeat(257)])
    t.notOk(key(bad), JSON.stringify(bad));
  t.notOk(accepts('memory.set', { key: 'k' }));
  for (const ttl of [0, -1, 1.5, '5'])
    t.notOk(accepts('memory.set', { key: 'k', value: 1, ttl_seconds: ttl }));
  t.end();
});

t.test('a value of 64 KB is kept, one byte more is an error that says what to do', (t) => {
  const { ok, error } = stage(t);
  const most = 'x'.repeat(64 * 1024 - 2);
  ok('memory.set', { key: 'k', value: most });
  t.match(error('memory.set', { key: 'k', value: `${most}x` }), /65537 bytes.*artifact\.create/);
  t.match(
    error('memory.set', { key: 'k', value: 'ü'.repeat(32 * 1024) }),
    /bytes/,
    'bytes count, not characters',
  );
  t.equal(ok('memory.get', { key: 'k' })['value'], most);
  t.end();
});

t.test('a list of keys stops at 100 unless told otherwise', (t) => {
  const { ok } = stage(t);
  for (let index = 0; index < 101; index += 1)
    ok('memory.set', { key: `k${String(index).padStart(3, '0')}`, value: index });
  const listed = ok('memory.list', { prefix: 'k' });
  t.equal((listed['keys'] as string[]).length, 100);
  t.equal(listed['truncated'], true);
  t.match(ok('memory.list', { prefix: 'k', limit: 101 }), { truncated: false });
  t.match(ok('memory.list', { prefix: 'k10' }), { keys: ['k100'], truncated: false });
  t.end();
});

t.test('an artifact of text is read page by page, and no character is cut or lost', (t) => {
  const { ok } = stage(t);
  const text = 'añ€😀\n'.repeat(40);
  const made = ok('artifact.create', { name: 'log', content: text });
  t.equal(made['bytes'], Buffer.byteLength(text));
  for (const length of [4, 5, 7, 100, 65_536]) {
    let offset: number | null = 0;
    let whole = '';
    while (offset !== null) {
      const part: JsonObject = ok('artifact.get', { id: made['id'], offset, length });
      t.equal(part['encoding'], 'utf8');
      whole += String(part['content']);
      offset = part['next_offset'] as number | null;
      if (whole.length > text.length) break;
    }
    t.equal(whole, text, `in parts of ${length} bytes`);
  }
  t.match(ok('artifact.get', { id: made['id'], offset: 1e9 }), { content: '', next_offset: null });
  t.end();
});

t.test('a binary artifact comes back as base64 with its media type, byte for byte', (t) => {
  const { ok, error } = stage(t);
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 0xff, 0xfe, 0xc3, 0x28]);
  const made = ok('artifact.create', {
    name: 'pic',
    content: bytes.toString('base64'),
    encoding: 'base64',
    mime: 'image/png',
  });
  const got = ok('artifact.get', { id: made['id'] });
  t.match(got, { encoding: 'base64', mime: 'image/png', bytes: 9, next_offset: null });
  t.ok(Buffer.from(String(got['content']), 'base64').equals(bytes));
  const tail = ok('artifact.get', { id: made['id'], offset: 4, length: 2 });
  t.same([tail['content'], tail['next_offset']], [bytes.subarray(4, 6).toString('base64'), 6]);
  t.match(error('artifact.create', { name: 'x', content: 'no base64!', encoding: 'base64' }), /not base64/);
  t.end();
});

t.test('text with a few broken bytes stays text', (t) => {
  const { store, ok } = stage(t);
  const bytes = Buffer.concat([Buffer.from('ok '), Buffer.from([0xff]), Buffer.from(' fine')]);
  store.transact('state_tool', () =>
    store.artifacts.create(bytes, {
      artifact_id: 'artifact_spill',
      thread_id: THREAD,
      turn_id: TURN_ID,
      name: 'output',
      mime: 'text/plain; charset=utf-8',
      created_at_ms: 1,
    }),
  );
  t.match(ok('artifact.get', { id: 'artifact_spill' }), { encoding: 'utf8', content: 'ok \ufffd fine' });
  t.end();
});

t.test('artifacts are listed for their own thread, and seen by no other', (t) => {
  const { ok, error } = stage(t);
  const made = ok('artifact.create', { name: 'a1', content: 'x' });
  ok('artifact.create', { name: 'b1', content: 'y' });
  t.match(ok('artifact.list'), {
    artifacts: [{ id: made['id'], name: 'a1', bytes: 1 }, { name: 'b1' }],
    truncated: false,
  });
  t.match(ok('artifact.list', { prefix: 'b' }), { artifacts: [{ name: 'b1' }] });
  t.match(ok('artifact.list', { limit: 1 }), { artifacts: [{ name: 'a1' }], truncated: true });
  t.same(ok('artifact.list', {}, { threadId: 'other' })['artifacts'], []);
  t.match(error('artifact.get', { id: made['id'] }, { threadId: 'other' }), /no artifact/);
  t.match(error('artifact.get', { id: 'artifact_none' }), /artifact\.list/);
  t.notOk(accepts('artifact.get', { id: '../turnd.db' }));
  t.end();
});

t.test('content that somebody removed from the disk is an answer, not a crash', (t) => {
  const { store, ok, error } = stage(t);
  const made = ok('artifact.create', { name: 'a1', content: 'x' });
  rmSync(join(store.dir, 'artifacts', String(made['id'])));
  t.match(error('artifact.get', { id: made['id'] }), /gone from the disk/);
  t.end();
});
