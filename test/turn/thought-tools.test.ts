// The tools that ask another model: what is asked, what comes back, and how a call waits for it.
import t from 'tap';
import * as v from 'valibot';
import type { JsonObject, JsonValue } from '../../shared/json.js';
import { decideParams, thinkParams } from '../../shared/tools/thought-tools.js';
import type { ThinkRequest, ThinkResult } from '../../supervisor/context/thinker.js';
import { decideOn, type RoleKind, type ThoughtPorts, thinkAbout } from '../../supervisor/context/thoughts.js';
import type { WaitRow } from '../../supervisor/store/rows.js';
import { thoughtTool } from '../../supervisor/tools/thought.js';
import { TURN_ID } from '../fakes/open-store.js';

const PAYER = { turnId: TURN_ID, threadId: 'root', principal: 'operator' };

function ports(answer: JsonValue | Extract<ThinkResult, { ok: false }>, kind: RoleKind = 'chat') {
  const asked: ThinkRequest[] = [];
  const failed = typeof answer === 'object' && answer !== null && 'ok' in answer;
  const given: ThoughtPorts = {
    confidence: 0.6,
    kindOf: () => kind,
    thinker: {
      think: async (request) => {
        asked.push(request);
        return failed ? (answer as ThinkResult) : { ok: true, value: answer as JsonValue, text: '' };
      },
    },
  };
  return { asked, given };
}
const never = new AbortController().signal;

t.test('think gives the answer of the model, in the form that was asked for', async (t) => {
  const text = ports('forty-two');
  t.same(await thinkAbout(text.given, PAYER, { prompt: 'Why?' }, never), {
    content: 'forty-two',
    is_error: false,
  });
  t.match(text.asked, [{ ...PAYER, purpose: 'think', messages: [{ role: 'user', text: 'Why?' }] }]);
  t.notOk('output_schema' in Object(text.asked[0]));
  const json = ports({ n: 42 });
  const schema = { type: 'object' };
  t.same((await thinkAbout(json.given, PAYER, { prompt: 'Why?', output_schema: schema }, never)).content, {
    n: 42,
  });
  t.same(json.asked[0]?.output_schema, schema);
  const failing = ports({ ok: false, code: 'schema_mismatch', message: 'it does not match' });
  t.same(await thinkAbout(failing.given, PAYER, { prompt: 'Why?' }, never), {
    content: { error: 'it does not match', code: 'schema_mismatch' },
    is_error: true,
  });
  const offline = ports('', 'nobody');
  t.match(await thinkAbout(offline.given, PAYER, { prompt: 'Why?' }, never), { is_error: true });
  t.equal(offline.asked.length, 0);
});

const DECIDE: JsonObject = {
  situation: 'It rains.',
  questions: [
    { name: 'umbrella', question: 'Take one?' },
    { name: 'way', question: 'How?', choices: ['bus', { name: 'bike', meaning: 'wet' }] },
    { name: 'mood', question: 'Nice?' },
  ],
};

t.test('decide gives each answer with how sure it is, of either kind of model', async (t) => {
  const answers = {
    umbrella: { answer: 'yes', confidence: 0.9, sure: true },
    way: { answer: 'bus', confidence: 0.5, sure: false },
    mood: { answer: null, confidence: 0, sure: false },
  };
  const chat = ports({
    umbrella: { answer: 'yes', confidence: 0.9 },
    way: { answer: 'bus', confidence: 0.5 },
  });
  t.same(await decideOn(chat.given, PAYER, DECIDE, never), { content: { answers }, is_error: false });
  t.match(chat.asked, [{ purpose: 'decide' }]);
  const native = ports({ umbrella: { noul: 0.9 }, way: { choice: 'bus', confidence: 0.5 } }, 'decision');
  t.same(await decideOn(native.given, PAYER, DECIDE, never), { content: { answers }, is_error: false });
  const [body] = native.asked[0]?.messages ?? [];
  t.match(body?.role === 'user' ? JSON.parse(body.text) : {}, {
    state: 'It rains.',
    questions: { way: { type: 'choice', criteria: { bus: null, bike: 'wet' } } },
  });
  t.match(await decideOn(ports({}, 'nobody').given, PAYER, DECIDE, never), { is_error: true });
});

t.test('the arguments of both are held to what can be asked', (t) => {
  const takes = (params: v.GenericSchema, args: unknown): boolean => v.safeParse(params, args).success;
  t.ok(takes(thinkParams, { prompt: 'x', output_schema: {} }));
  for (const bad of [{}, { prompt: '' }, { prompt: 'x', output_schema: [] }, { prompt: 'x', tools: [] }])
    t.notOk(takes(thinkParams, bad));
  const one = (question: JsonObject): unknown => ({ situation: 's', questions: [question] });
  t.ok(takes(decideParams, DECIDE));
  for (const bad of [
    { situation: 's', questions: [] },
    {
      situation: 's',
      questions: [
        { name: 'a', question: 'q' },
        { name: 'a', question: 'r' },
      ],
    },
    one({ name: '1', question: 'q' }),
    one({ name: 'a', question: 'q', choices: ['only'] }),
    one({ name: 'a', question: 'q', choices: ['b', { name: 'b' }] }),
  ])
    t.notOk(takes(decideParams, bad), JSON.stringify(bad));
  t.end();
});

t.test('a waiting thought answers once, not after it was stopped, and also when it breaks', async (t) => {
  const wait = { wait_id: 'c', turn_id: TURN_ID } as WaitRow;
  const told: unknown[] = [];
  const answer = (result: unknown): void => void told.push(result);
  const result = { content: 'a', is_error: false };
  thoughtTool(async () => result).arm(wait, answer);
  await new Promise(setImmediate);
  t.same(told, [result]);
  let signal = never;
  const stop = thoughtTool(async (_wait, given) => {
    signal = given;
    return result;
  }).arm(wait, answer);
  stop();
  t.equal(signal.aborted, true, 'the model is not asked any longer');
  thoughtTool(() => Promise.reject(new Error('canary'))).arm(wait, answer);
  await new Promise(setImmediate);
  t.equal(told.length, 2);
  t.match(told[1], { is_error: true });
  t.notMatch(JSON.stringify(told), /canary/);
});
