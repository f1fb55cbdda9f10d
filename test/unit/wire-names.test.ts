// Tool names as providers take them, and back.
import t from 'tap';
import { strayWireName, wireNames } from '../../shared/tools/wire-names.js';

const VALID = /^[A-Za-z0-9_-]{1,64}$/;
const NAMES = [
  'read_file',
  'plan.get',
  'fs.read/file',
  'a-b',
  'a.b',
  'a_b',
  'a/b',
  'x'.repeat(64),
  'x'.repeat(65),
  `${'x'.repeat(64)}y`,
  '名前',
  '名後',
  '...',
  ' ',
];

t.test('dots become underscores, and a valid name stays', async (t) => {
  const names = wireNames(['plan.get', 'read_file', 'x'.repeat(64)]);
  t.equal(names.get('plan.get'), 'plan_get');
  t.equal(names.get('read_file'), 'read_file');
  t.equal(names.get('x'.repeat(64)), 'x'.repeat(64));
});

t.test('every name gets a valid wire name that no other has', async (t) => {
  const names = wireNames(NAMES);
  t.equal(names.size, NAMES.length);
  t.equal(new Set(names.values()).size, NAMES.length, 'it can be mapped back');
  for (const [name, wire] of names) t.match(wire, VALID, JSON.stringify(name));
});

t.test('the order of the tools does not change the names', async (t) => {
  const sorted = (names: Map<string, string>) => [...names].sort();
  t.same(sorted(wireNames(NAMES.toReversed())), sorted(wireNames(NAMES)));
});

t.test('of names that collide the valid one keeps itself, the others end in a hash', async (t) => {
  const names = wireNames(['a.b', 'a_b', 'a/b']);
  t.equal(names.get('a_b'), 'a_b');
  t.match(names.get('a.b'), /^a_b_[0-9a-f]{8}$/);
  t.match(names.get('a/b'), /^a_b_[0-9a-f]{8}$/);
});

t.test('a name that equals the hashed form of another one is avoided', async (t) => {
  const hashed = wireNames(['a.b', 'a/b']).get('a.b') ?? '';
  const names = wireNames(['a.b', 'a/b', hashed]);
  t.equal(names.get(hashed), hashed);
  t.equal(new Set(names.values()).size, 3);
  for (const wire of names.values()) t.match(wire, VALID);
});

t.test('of names that collide and none is valid, all end in a hash', async (t) => {
  for (const wire of wireNames(['a.b', 'a/b']).values()) t.match(wire, /^a_b_[0-9a-f]{8}$/);
});

t.test('a name that becomes the hashed form of another one is kept apart, in any order', async (t) => {
  const hashed = wireNames(['a.b', 'a/b']).get('a.b') ?? '';
  const names = ['a.b', 'a/b', hashed.replace('_', '.')];
  const wires = wireNames(names);
  t.equal(new Set(wires.values()).size, 3);
  t.same([...wireNames(names.toReversed())].sort(), [...wires].sort());
});

t.test('an empty name is left out, the same name twice counts once', async (t) => {
  t.same([...wireNames(['', 'a', 'a'])], [['a', 'a']]);
});

t.test('a name that is in no plan gets a valid one as well', async (t) => {
  for (const name of [...NAMES, '']) t.match(strayWireName(name), VALID, JSON.stringify(name));
  t.equal(strayWireName('read_file'), 'read_file');
  t.equal(strayWireName(strayWireName('a.b/c')), strayWireName('a.b/c'));
});
