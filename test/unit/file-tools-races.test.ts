// Somebody else changes a file while a turn works on it: nothing of theirs is lost.
import {
  existsSync,
  linkSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { stageWrite } from '../../worker/tools/files/staged-write.js';
import { testTools } from '../fakes/tool-context.js';

t.test('write_file does not overwrite what somebody changed since the turn saw it', async (t) => {
  const tools = testTools(t, t.testdir({ f: 'version 1' }));
  await tools.call('read_file', { path: 'f' });
  writeFileSync(join(tools.root, 'f'), 'version 2 of somebody else');
  const refused = await tools.call('write_file', { path: 'f', content: 'version 1 and more' });
  t.equal(refused.is_error, true);
  t.match(refused.error, /changed since this turn last saw it.*Read it again/);
  t.equal(readFileSync(join(tools.root, 'f'), 'utf8'), 'version 2 of somebody else');
  await tools.call('read_file', { path: 'f' });
  t.equal((await tools.call('write_file', { path: 'f', content: 'a' })).is_error, false);
  t.equal(
    (await tools.call('write_file', { path: 'f', content: 'b' })).is_error,
    false,
    'own writes count as seen',
  );
});

t.test(
  'write_file brings back no file that somebody deleted, and follows no link that took its place',
  async (t) => {
    const tools = testTools(t, t.testdir({ gone: 'a', swapped: 'b', other: 'theirs', cut: 'c\n' }));
    const at = (name: string): string => join(tools.root, name);
    for (const path of ['gone', 'swapped', 'cut']) await tools.call('read_file', { path });
    rmSync(at('gone'));
    rmSync(at('swapped'));
    symlinkSync('other', at('swapped'));
    const write = (path: string) => tools.call('write_file', { path, content: 'mine' });
    t.match((await write('gone')).error, /was deleted since this turn last saw it; nothing was written/);
    t.notOk(existsSync(at('gone')));
    t.match((await write('swapped')).error, /became a link to .*other since/);
    t.equal(readFileSync(at('other'), 'utf8'), 'theirs');
    t.equal((await write('gone')).is_error, false, 'who knows and asks again gets it');
    const patch = '*** Begin Patch\n*** Delete File: cut\n*** End Patch';
    t.equal((await tools.call('apply_patch', { patch })).is_error, false);
    t.equal((await write('cut')).is_error, false, 'what the turn deleted itself is no surprise');
  },
);

t.test('a file that changes between reading and writing is not written', async (t) => {
  const root = t.testdir({ f: 'one', linked: 'one', gone: 'one' });
  const at = (name: string): string => join(root, name);
  linkSync(at('linked'), at('other-name'));
  for (const name of ['f', 'linked']) {
    const order = { real: at(name), shown: name, bytes: Buffer.from('mine'), expected: Buffer.from('one') };
    const staged = await stageWrite(order);
    const { mtime } = statSync(at(name));
    writeFileSync(at(name), 'two');
    // Not even a change that hides its time and size goes unnoticed.
    utimesSync(at(name), mtime, mtime);
    await t.rejects(staged.commit(), { message: /changed by somebody else.*Read it again/ });
    await staged.discard();
    t.equal(readFileSync(at(name), 'utf8'), 'two');
  }
  const fresh = await stageWrite({
    real: at('new'),
    shown: 'new',
    bytes: Buffer.from('mine'),
    expected: 'absent',
  });
  writeFileSync(at('new'), 'theirs');
  await t.rejects(fresh.commit(), { message: /created by somebody else/ });
  await fresh.discard();
  t.equal(readFileSync(at('new'), 'utf8'), 'theirs');
  t.strictSame(readdirSync(root).sort(), ['f', 'gone', 'linked', 'new', 'other-name']);
});
