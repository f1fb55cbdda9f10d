// What compaction keeps and asks for: which events a turn is shown, summaries by revision, and calibrations.
import t from 'tap';
import type { JournalEvent } from '../../shared/journal.js';
import type { Store } from '../../supervisor/store/types.js';
import { mustOpen, seedTurn, THREAD, TURN_ID, testStore } from '../fakes/open-store.js';

const note = (text: string): JournalEvent => ({ kind: 'note', text });

function tell(store: Store, turnId: string, text: string): number {
  return store.transact('record_progress', () => store.events.append(turnId, THREAD, note(text), 1));
}

function end(store: Store, turnId: string): void {
  store.transact('settle_turn', () => store.turns.transition(turnId, 'settle', { status: 'completed' }));
}

const textsOf = (rows: readonly { event: JournalEvent }[]): string[] =>
  rows.map(({ event }) => (event.kind === 'note' ? event.text : event.kind));

t.test('a turn is shown what has ended and its own, in order of turns, from a cut on', (t) => {
  const store = testStore(t);
  for (const turnId of ['turn_2', 'turn_3', 'turn_4']) seedTurn(store, turnId);
  tell(store, TURN_ID, '1 first');
  tell(store, 'turn_2', '2 first');
  tell(store, 'turn_3', '3 waits');
  const cut = tell(store, TURN_ID, '1 second');
  tell(store, TURN_ID, '1 third');
  tell(store, 'turn_2', '2 second');
  tell(store, 'turn_4', '4 own');
  end(store, TURN_ID);
  end(store, 'turn_2');
  const all = ['1 first', '1 second', '1 third', '2 first', '2 second', '4 own'];
  t.same(textsOf(store.events.shown(THREAD, 'turn_4', null)), all, 'one that waits is not there');
  t.same(
    textsOf(store.events.shown(THREAD, 'turn_3', null)),
    ['1 first', '1 second', '1 third', '2 first', '2 second', '3 waits'],
    'nor is one behind it',
  );
  end(store, 'turn_4');
  t.equal(textsOf(store.events.shown(THREAD, 'turn_3', null)).at(-1), '3 waits', 'its own is always last');
  const behind = store.events.shown(THREAD, 'turn_4', { turnId: TURN_ID, seq: cut });
  t.same(
    textsOf(behind),
    ['1 first', '1 third', '2 first', '2 second', '4 own'],
    'and the first of the divided turn',
  );
  t.same(textsOf(store.events.shown(THREAD, 'turn_4', { turnId: 'turn_2', seq: 1_000 })), [
    '2 first',
    '4 own',
  ]);
  t.same(
    textsOf(store.events.shown(THREAD, 'turn_4', { turnId: 'lost', seq: 3 })),
    all,
    'a lost cut hides nothing',
  );
  t.same(store.events.shown('other', 'turn_4', null), []);
  const bytes = store.events.shownBytes(THREAD, 'turn_4', null);
  t.equal(bytes, 6 * JSON.stringify(note('')).length + all.join('').length);
  t.equal(store.events.shownBytes('other', 'turn_4', null), 0);
  t.ok(store.turns.hasOpenBefore('turn_4', 'turn_4'), 'turn 3 still waits');
  t.notOk(store.turns.hasOpenBefore('turn_4', 'turn_3'));
  t.notOk(store.turns.hasOpenBefore('turn_2', 'turn_4'));
  t.end();
});

t.test('a summary is replaced only over the revision that it was made from', (t) => {
  const store = testStore(t);
  const write = (base: number, text: string): boolean =>
    store.transact('compact', () => store.summaries.replace(THREAD, base, 7, { narrative: text }, 5));
  t.equal(store.summaries.get(THREAD), undefined);
  t.ok(write(0, 'one'));
  t.notOk(write(0, 'late'));
  t.ok(write(1, 'two'));
  t.notOk(write(1, 'late'));
  t.match(store.summaries.get(THREAD), { revision: 2, upto_seq: 7, summary: { narrative: 'two' } });
  t.end();
});

t.test('calibrations outlive the store, settle down, and forget an old refusal', (t) => {
  const dir = `${t.testdir({})}/state`;
  const first = mustOpen(dir);
  const DAY = 24 * 60 * 60 * 1000;
  t.same(first.calibrations.get('m', 1), { ratio: 1, samples: 0, too_long_tokens: null });
  first.transact('record_progress', () => first.calibrations.observe('m', 1_000, 1_500, 10));
  first.transact('compact', () => first.calibrations.tooLong('m', 30_000, 20));
  first.close();
  const store = mustOpen(dir);
  t.teardown(() => store.close());
  t.same(store.calibrations.get('m', 30), { ratio: 1.5, samples: 1, too_long_tokens: 30_000 });
  t.equal(store.calibrations.get('other', 30).samples, 0);
  for (let index = 0; index < 20; index += 1)
    store.transact('record_progress', () => store.calibrations.observe('m', 1_000, 1_500, 40));
  const settled = store.calibrations.get('m', 50);
  t.equal(settled.samples, 8, 'what says nothing new is not written');
  t.equal(settled.too_long_tokens, 30_000);
  store.transact('record_progress', () => store.calibrations.observe('m', 1_000, 3_000, 60));
  t.equal(store.calibrations.get('m', 70).ratio, 1.8);
  t.equal(store.calibrations.get('m', 20 + 8 * DAY).too_long_tokens, null, 'servers are set up anew');
  store.transact('record_progress', () => store.calibrations.observe('m', 20_000, 31_000, 80));
  t.equal(store.calibrations.get('m', 90).too_long_tokens, null, 'a longer one went through');
  t.end();
});
