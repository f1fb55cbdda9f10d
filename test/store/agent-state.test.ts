// What the agent keeps for itself: memory, artifacts and the plan of a thread.
import { existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { THREAD, TURN_ID, testStore } from '../fakes/open-store.js';

t.test('memory forgets by time, lists by prefix and says when there is more', (t) => {
  const store = testStore(t);
  store.transact('state_tool', () => {
    for (const key of ['b', 'a%', 'a_1', 'a2'])
      store.memory.set({ key, value: key, updated_at_ms: 1, expires_at_ms: key === 'a2' ? 100 : null });
  });
  t.same(store.memory.list('', 10, 50), { keys: ['a%', 'a2', 'a_1', 'b'], truncated: false });
  t.same(store.memory.list('a', 2, 50), { keys: ['a%', 'a2'], truncated: true });
  t.same(store.memory.list('a%', 9, 50).keys, ['a%'], 'a prefix is text, not a pattern');
  t.equal(store.memory.get('a2', 99)?.value, 'a2');
  t.equal(store.memory.get('a2', 100), undefined);
  t.same(store.memory.list('a2', 9, 100), { keys: [], truncated: false });
  t.equal(
    store.transact('state_tool', () => store.memory.delete('b')),
    true,
  );
  t.equal(
    store.transact('state_tool', () => store.memory.delete('b')),
    false,
  );
  t.end();
});

const ARTIFACT = { thread_id: THREAD, turn_id: TURN_ID, mime: 'text/plain', created_at_ms: 1 };

t.test('an artifact takes a file over, knows its size and hash, and is read in parts', (t) => {
  const store = testStore(t);
  const spill = join(store.dir, 'spool', 'out');
  writeFileSync(spill, 'hello world', { mode: 0o644 });
  const row = store.transact('record_result', () =>
    store.artifacts.adopt(spill, { ...ARTIFACT, artifact_id: 'artifact_1', name: 'out' }),
  );
  t.match(row, { bytes: 11, sha256: 'b94d27b9934d3e08a52e52d7da7dabfac484efe37a5380ee9088f7ace2efcde9' });
  t.notOk(existsSync(spill));
  t.same(store.artifacts.get('artifact_1'), row);
  const read = (offset: number, length: number): string =>
    Buffer.from(store.artifacts.read('artifact_1', offset, length)).toString();
  t.same([read(0, 5), read(6, 100), read(11, 5), read(500, 5)], ['hello', 'world', '', '']);
  t.end();
});

t.test('an artifact is never a link to something else', (t) => {
  const store = testStore(t);
  const link = join(store.dir, 'spool', 'out');
  symlinkSync('/etc/hostname', link);
  const adopt = (): unknown =>
    store.transact('record_result', () =>
      store.artifacts.adopt(link, { ...ARTIFACT, artifact_id: 'artifact_1', name: 'out' }),
    );
  t.throws(adopt, { code: 'ELOOP' });
  t.equal(store.artifacts.get('artifact_1'), undefined);
  t.same(readdirSync(join(store.dir, 'artifacts')), []);
  t.end();
});

t.test('artifacts of a thread are listed oldest first, by prefix and up to a limit', (t) => {
  const store = testStore(t);
  store.transact('state_tool', () => {
    for (const [index, name] of ['b1', 'a%', 'b2', 'b3'].entries())
      store.artifacts.create(Buffer.from(name), { ...ARTIFACT, artifact_id: `artifact_${index}`, name });
  });
  const names = (prefix: string, limit: number): string[] =>
    store.artifacts.list(THREAD, prefix, limit).map((row) => row.name);
  t.same(names('', 9), ['b1', 'a%', 'b2', 'b3']);
  t.same(names('b', 2), ['b1', 'b2']);
  t.same(names('%', 2), []);
  t.same(store.artifacts.list('other', '', 9), []);
  t.end();
});

t.test('a plan belongs to its thread and is replaced whole', (t) => {
  const store = testStore(t);
  t.equal(store.plans.get(THREAD), undefined);
  store.transact('state_tool', () => store.plans.set(THREAD, { goal: 'a' }, 1));
  store.transact('state_tool', () => store.plans.set(THREAD, { goal: 'b' }, 2));
  t.same(store.plans.get(THREAD), { goal: 'b' });
  t.equal(
    store.transact('state_tool', () => store.plans.clear(THREAD)),
    true,
  );
  t.equal(
    store.transact('state_tool', () => store.plans.clear(THREAD)),
    false,
  );
  t.end();
});
