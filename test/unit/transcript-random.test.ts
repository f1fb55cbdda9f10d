// Random histories and random cuts: whatever was stored, what goes out is what every kind of provider takes.
import assert from 'node:assert';
import t from 'tap';
import { type ModelSettings, STRUCTURED_OUTPUTS } from '../../shared/ipc/turn-snapshot.js';
import type { JsonValue } from '../../shared/json.js';
import type { Message, ToolCall } from '../../shared/transcript/message.js';
import { repairHistory } from '../../shared/transcript/repair.js';
import { writeAnthropic } from '../../worker/models/anthropic-request.js';
import { writeBedrock } from '../../worker/models/bedrock-request.js';
import { writeOpenai } from '../../worker/models/openai-request.js';
import type { ModelRequest } from '../../worker/models/provider.js';
import { writeResponses } from '../../worker/models/responses-request.js';
import { asReceived } from '../fakes/as-received.js';
import { brokenHistory } from '../fakes/history-rules.js';
import { brokenRules } from '../fakes/model-request-rules.js';
import { SETTINGS, TOOLS } from '../fakes/played-turn.js';

const user = (text: string): Message => ({ role: 'user', text });
const call = (callId: string, name = 'read_file'): ToolCall => ({ call_id: callId, name, arguments: {} });
const assistant = (text: string, ...calls: ToolCall[]): Message => ({ role: 'assistant', text, calls });
const result = (callId: string, content: JsonValue, name = 'read_file'): Message => ({
  role: 'tool',
  call_id: callId,
  name,
  content,
  is_error: false,
});

/** Small, fast and the same in every run. */
function randomOf(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const TEXTS = ['', ' ', '\n', 'text', 'é😀', '\ud83d', 'a\udc00b', 'nul\0', '👩‍👩‍👧', 'x'.repeat(3_000)];
const IDS = ['call_1', 'call_2', 'call_3', '', 'call r!', 'call_r1', 'ü'];

/** Anything that a crash, a cut or an older version may have left. */
function anyHistory(random: (below: number) => number): Message[] {
  const one = <T>(items: readonly T[]): T => items[random(items.length)] as T;
  return Array.from({ length: random(14) }, (): Message => {
    switch (random(6)) {
      case 0:
        return user(one(TEXTS));
      case 1:
        return { role: random(2) === 0 ? 'note' : 'system', text: one(TEXTS) };
      case 2:
      case 3: {
        const calls = Array.from({ length: random(4) }, () => ({
          call_id: one(IDS),
          name: one(['read_file', 'plan.get', '']),
          arguments: one<unknown>([
            {},
            { path: one(TEXTS), [one(TEXTS)]: [one(TEXTS)] },
            null,
            [],
            'text',
          ]) as ToolCall['arguments'],
        }));
        return assistant(one(TEXTS), ...calls);
      }
      default:
        return result(one(IDS), one<JsonValue>([one(TEXTS), null, { out: one(TEXTS) }, [], 0]));
    }
  });
}

t.test('any history at all becomes one that can be sent, and stays as it is from then on', async () => {
  const random = randomOf(7);
  for (let round = 0; round < 600; round += 1) {
    const messages = anyHistory(random);
    const before = JSON.stringify(messages);
    const repaired = repairHistory(messages);
    assert.deepEqual(brokenHistory(repaired), [], before);
    assert.equal(JSON.stringify(messages), before, 'the input is left alone');
    assert.deepEqual(repairHistory(repaired), repaired, 'twice is once');
  }
});

t.test('whatever was stored, every dialect writes a request that its provider takes', async () => {
  const random = randomOf(23);
  for (let round = 0; round < 600; round += 1) {
    const messages = anyHistory(random);
    const request: ModelRequest = {
      settings: {
        ...SETTINGS,
        model: random(2) === 0 ? 'scripted' : 'anthropic.claude-x',
        ...chosenBy(random),
      },
      credentials: { headers: {}, mask: [] },
      system_prompt: random(2) === 0 ? 'You are a test.' : '',
      messages: repairHistory([...messages, user('go on')]),
      tools: random(2) === 0 ? TOOLS : [],
      deadline_ms: 1_000,
      ...(random(3) === 0 ? { output_schema: { type: 'object' } } : {}),
    };
    for (const [dialect, write] of [
      ['openai', writeOpenai],
      ['openai_responses', writeResponses],
      ['anthropic', writeAnthropic],
      ['bedrock', writeBedrock],
    ] as const) {
      const { text, options } = write(request, new Set());
      for (const option of options) {
        const without = write(request, new Set([option]));
        assert.ok(!without.options.includes(option), `${dialect}: ${option} is left out`);
        assert.deepEqual(brokenRules(asReceived(dialect, without.text)), [], `${dialect} without ${option}`);
      }
      assert.deepEqual(brokenRules(asReceived(dialect, text)), [], `${dialect}: ${JSON.stringify(messages)}`);
    }
  }
});

/** Settings that change what is written. */
function chosenBy(random: (below: number) => number): Partial<ModelSettings> {
  return {
    temperature: random(2) === 0 ? null : 0,
    max_output_tokens: random(2) === 0 ? 0 : 1 + random(50),
    ...(random(2) === 0 ? {} : { structured_output: STRUCTURED_OUTPUTS[random(3)] ?? 'auto' }),
  };
}

t.test('a good history cut at any two places can be sent, and keeps every pair that is whole', async () => {
  const random = randomOf(11);
  for (let round = 0; round < 1_000; round += 1) {
    const messages: Message[] = [];
    for (let turn = 0; turn < 6; turn += 1) {
      messages.push(user(`question ${turn}`));
      const ids = Array.from({ length: 1 + random(5) }, (_, index) => `call_${turn}_${index}`);
      messages.push(assistant('', ...ids.map((id) => call(id))), ...ids.map((id) => result(id, `of ${id}`)));
      messages.push(assistant(`answer ${turn}`));
    }
    assert.deepEqual(repairHistory(messages), messages, 'a whole one needs nothing');
    const from = random(messages.length);
    const cut = messages.slice(from, from + random(messages.length));
    const repaired = repairHistory(cut);
    assert.deepEqual(brokenHistory(repaired), [], JSON.stringify(cut));
    const contentOf = (id: string, among: readonly Message[]): JsonValue | undefined =>
      among.flatMap((other) => (other.role === 'tool' && other.call_id === id ? [other.content] : []))[0];
    for (const message of cut) {
      if (message.role !== 'assistant') continue;
      for (const { call_id: id } of message.calls)
        assert.deepEqual(
          contentOf(id, repaired),
          contentOf(id, cut) ?? { error: 'interrupted, effect unknown' },
        );
    }
  }
});
