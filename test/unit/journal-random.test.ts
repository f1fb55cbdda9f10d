// From a random journal to the bytes of a request: the real reading, folding, fitting and repair, then every dialect,
// held against what its provider refuses. A failure names the seed; `seeded(seed)` brings its journal back.
import assert from 'node:assert';
import t from 'tap';
import { STRUCTURED_OUTPUTS } from '../../shared/ipc/turn-snapshot.js';
import type { Message } from '../../shared/transcript/message.js';
import { threadSlice } from '../../shared/transcript/thread-slice.js';
import { writeAnthropic } from '../../worker/models/anthropic-request.js';
import { writeBedrock } from '../../worker/models/bedrock-request.js';
import { writeOpenai } from '../../worker/models/openai-request.js';
import type { ModelRequest } from '../../worker/models/provider.js';
import { writeResponses } from '../../worker/models/responses-request.js';
import { asReceived } from '../fakes/as-received.js';
import { brokenHistory } from '../fakes/history-rules.js';
import { brokenRules } from '../fakes/model-request-rules.js';
import { SETTINGS, TOOLS } from '../fakes/played-turn.js';
import { type RandomThread, randomThread } from '../fakes/random-journal.js';
import { type Chance, oneOf, seeded } from '../fakes/seeded.js';

const THREADS = 150;
const WRITERS = [
  ['openai', writeOpenai],
  ['openai_responses', writeResponses],
  ['anthropic', writeAnthropic],
  ['bedrock', writeBedrock],
] as const;

function shown(chance: Chance, thread: RandomThread): Message[] {
  return threadSlice({
    ...thread,
    plan: chance(2) === 0 ? null : { steps: ['look', 'act'] },
    waiting: chance(3) === 0 ? ['sleep (call_1): {}'] : [],
    roomTokens: oneOf(chance, [Number.POSITIVE_INFINITY, 20_000, 300, 0]),
    fit: chance(4) > 0,
    handles: new Map([['turn_1', 'artifact_9']]),
  });
}

function requestOf(chance: Chance, messages: readonly Message[]): ModelRequest {
  return {
    settings: {
      ...SETTINGS,
      model: oneOf(chance, ['scripted', 'anthropic.claude-x', 'gpt-5-mini']),
      temperature: chance(2) === 0 ? null : 0,
      max_output_tokens: chance(2) === 0 ? 0 : 1 + chance(50),
      structured_output: oneOf(chance, STRUCTURED_OUTPUTS),
    },
    credentials: { headers: {}, mask: [] },
    system_prompt: chance(2) === 0 ? 'You are a test.' : '',
    messages,
    tools: chance(2) === 0 ? TOOLS : [],
    deadline_ms: 1_000,
    ...(chance(3) === 0 ? { output_schema: { type: 'object' } } : {}),
  };
}

t.test('whatever a journal holds, what each provider is sent is what it takes', async () => {
  for (let seed = 1; seed <= THREADS; seed += 1) {
    const chance = seeded(seed);
    const thread = randomThread(chance);
    const before = JSON.stringify(thread);
    const messages = shown(chance, thread);
    assert.equal(JSON.stringify(thread), before, `seed ${seed}: the journal is left alone`);
    assert.deepEqual(brokenHistory(messages), [], `seed ${seed}`);
    const request = requestOf(chance, messages);
    for (const [dialect, write] of WRITERS) {
      const { text, options } = write(request, new Set());
      assert.deepEqual(brokenRules(asReceived(dialect, text)), [], `seed ${seed}: ${dialect}`);
      const bare = write(request, new Set(options));
      assert.deepEqual(brokenRules(asReceived(dialect, bare.text)), [], `seed ${seed}: ${dialect}, bare`);
    }
  }
});

t.test('the request of the turn at work is the last thing that a person says', async () => {
  for (let seed = 1; seed <= THREADS; seed += 1) {
    const chance = seeded(seed);
    const thread = randomThread(chance);
    const messages = threadSlice({
      ...thread,
      plan: null,
      waiting: [],
      roomTokens: Number.POSITIVE_INFINITY,
      fit: true,
      handles: new Map(),
    });
    const asked = thread.rows.findLast(({ event }) => event.kind === 'user_message')?.event;
    const said = messages.findLast((message) => message.role === 'user');
    assert(asked?.kind === 'user_message' && said?.role === 'user', `seed ${seed}`);
    const wanted = asked.text.replaceAll(/[\p{Surrogate}\0]/gu, '\ufffd');
    assert.equal(said.text, wanted.trim() === '' ? '(empty message)' : wanted, `seed ${seed}`);
  }
});
