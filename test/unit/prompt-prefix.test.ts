// Providers cache a request by its literal beginning. What changes from turn to turn must leave that beginning alone:
// the system text, the tools, and the conversation up to the newest message.
import t, { type Test } from 'tap';
import { DEFAULTS } from '../../config/defaults.js';
import type { Config } from '../../config/schema.js';
import type { TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { JsonObject } from '../../shared/json.js';
import { buildSnapshot } from '../../supervisor/snapshot/build-snapshot.js';
import { BUILT_IN_TEMPLATE, promptTemplate } from '../../supervisor/snapshot/prompt.js';
import { writeAnthropic } from '../../worker/models/anthropic-request.js';
import { writeBedrock } from '../../worker/models/bedrock-request.js';
import { writeOpenai } from '../../worker/models/openai-request.js';
import { writeResponses } from '../../worker/models/responses-request.js';
import { type LongThread, longThread } from '../fakes/long-thread.js';
import { THREAD } from '../fakes/open-store.js';
import { SETTINGS } from '../fakes/played-turn.js';
import { list, object } from '../fakes/request-shape.js';

function frozen(thread: LongThread, turnId: string, knowledge: string, instruction = ''): TurnSnapshot {
  const parsed = promptTemplate(BUILT_IN_TEMPLATE);
  if (!parsed.ok) throw new Error(parsed.message);
  return buildSnapshot(
    {
      store: thread.store,
      config: { ...DEFAULTS, agent: { ...DEFAULTS.agent, instruction } } as Config,
      template: parsed.template,
      model: SETTINGS,
      security: { mode: 'full_access', source: 'default', containment: [], web_allow_private: [] },
      workspaceRoot: '/nowhere/at/all',
      marker: turnId,
      budgetAdmission: false,
      knowledge,
    },
    { turnId, threadId: THREAD },
  );
}

const WRITERS = {
  openai: writeOpenai,
  openai_responses: writeResponses,
  anthropic: writeAnthropic,
  bedrock: writeBedrock,
};

/** What a provider reads, in the order in which it caches: tools, standing text, then piece by piece what was said. */
function pieces(dialect: keyof typeof WRITERS, snapshot: TurnSnapshot): string[] {
  const { text } = WRITERS[dialect](
    {
      settings: { ...SETTINGS, model: 'anthropic.claude-x' },
      credentials: { headers: {}, mask: [] },
      system_prompt: snapshot.system_prompt,
      messages: snapshot.messages,
      tools: snapshot.tools,
      deadline_ms: 1_000,
    },
    // Marks of where a cache ends wander with the newest message and are no part of what is cached.
    new Set(['cache_control', 'cache_point']),
  );
  const body = JSON.parse(text) as JsonObject;
  const said = list(dialect === 'openai_responses' ? body.input : body.messages).flatMap((message) =>
    Array.isArray(message.content)
      ? list(message.content).map((block) => JSON.stringify([message.role, block]))
      : [JSON.stringify(message)],
  );
  return [
    JSON.stringify(body.tools ?? object(body.toolConfig).tools),
    JSON.stringify(body.system ?? body.instructions),
    ...said,
  ];
}

/** How many pieces the two share from the beginning. */
function shared(left: readonly string[], right: readonly string[]): number {
  const at = left.findIndex((piece, index) => piece !== right[index]);
  return at < 0 ? left.length : at;
}

/** A thread with two turns that have ended and one that begins. */
function threadOf(test: Test): LongThread {
  const thread = longThread(test);
  thread.turn('turn_1', 'first question', 'first answer');
  thread.accept('turn_2', 'second question');
  thread.round('turn_2', 'looking', [
    { id: 'call_1', tool: 'read_file', args: { path: 'a' }, result: 'text' },
  ]);
  thread.round('turn_2', 'second answer');
  thread.end('turn_2');
  thread.accept('turn_3', 'third question');
  return thread;
}

function remember(thread: LongThread, key: string): void {
  thread.store.transact('record_progress', () =>
    thread.store.memory.set({ key, value: 1, updated_at_ms: 1, expires_at_ms: null }),
  );
}

for (const dialect of ['openai', 'openai_responses', 'anthropic', 'bedrock'] as const) {
  t.test(`${dialect}: what changes from turn to turn stands behind everything else`, async (t) => {
    const thread = threadOf(t);
    const plain = pieces(dialect, frozen(thread, 'turn_3', ''));
    const changes: [string, () => TurnSnapshot][] = [
      ['reference texts', () => frozen(thread, 'turn_3', 'Source: a\n> one')],
      ['other reference texts', () => frozen(thread, 'turn_3', 'Source: b\n> two')],
      [
        'what is remembered',
        () => {
          remember(thread, 'colour');
          return frozen(thread, 'turn_3', '');
        },
      ],
      [
        'the plan',
        () => {
          thread.store.transact('record_progress', () => thread.store.plans.set(THREAD, { steps: [] }, 5));
          return frozen(thread, 'turn_3', '');
        },
      ],
    ];
    for (const [what, change] of changes)
      t.equal(shared(plain, pieces(dialect, change())), plain.length, `${what}: the whole beginning holds`);
  });

  t.test(`${dialect}: the next turn begins with what the one before it was sent`, async (t) => {
    const thread = threadOf(t);
    remember(thread, 'colour');
    const before = pieces(dialect, frozen(thread, 'turn_3', 'Source: a\n> one'));
    thread.round('turn_3', 'third answer');
    thread.end('turn_3');
    thread.accept('turn_4', 'fourth question');
    remember(thread, 'shape');
    const after = pieces(dialect, frozen(thread, 'turn_4', 'Source: b\n> two'));
    const volatile = 2;
    t.equal(shared(before, after), before.length - volatile, 'all but the notes behind the message');
    t.match(before.at(-3), 'third question');
    t.match(after.at(-2), /## Memory.*colour.*shape/);
    t.match(after.at(-1), '> two');
  });

  t.test(`${dialect}: a changed instruction is seen, which is what this file would notice`, async (t) => {
    const thread = threadOf(t);
    const one = pieces(dialect, frozen(thread, 'turn_3', '', 'Be kind.'));
    const other = pieces(dialect, frozen(thread, 'turn_3', '', 'Be brief.'));
    t.ok(shared(one, other) < 3, 'it stands before the conversation');
  });
}

t.test('what is remembered', async (t) => {
  t.test('is named in order, quoted and bounded, and left out when there is none', async (t) => {
    const thread = threadOf(t);
    t.same(
      frozen(thread, 'turn_3', '').messages.filter(({ role }) => role === 'note'),
      [],
    );
    for (let index = 0; index < 60; index += 1) remember(thread, `key-${String(index).padStart(2, '0')}`);
    remember(thread, `a"\n## Instruction ${'x'.repeat(200)}`);
    const note = frozen(thread, 'turn_3', '').messages.at(-1);
    t.match(note, { role: 'note', text: /^## Memory\n\n[^\n]*"key-00", "key-01"[^\n]*memory\.list/ });
    t.match(note, { text: /"a\\"\\n## Instruction x+…"/ }, 'a key cannot pass for a heading');
  });
});
