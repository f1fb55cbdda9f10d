// Decisions: how they are put to a decision model and to a chat model, what comes back, and what triage makes of it.
import t, { type Test } from 'tap';
import { systemClock } from '../../shared/clock.js';
import type { JsonValue } from '../../shared/json.js';
import { asDecision, type Decision } from '../../supervisor/context/decision.js';
import { isWorthPreflight } from '../../supervisor/context/preflight-rule.js';
import {
  triagePrompt,
  triageQuestions,
  verdictOf,
  verdictOfAnswers,
  verdictSchema,
} from '../../supervisor/context/verdict.js';
import { answerCheck } from '../../worker/answer.js';
import type { ModelOutcome } from '../../worker/models/provider.js';
import { providerFor } from '../../worker/models/registry.js';
import { type FakeModel, startFakeModel } from '../fakes/fake-model-server.js';
import type { FakeStep } from '../fakes/model-steps.js';
import { MODEL } from '../fakes/turn-frame.js';

const DECISION: Decision = {
  situation: 'The disk of the build machine is full.',
  questions: [
    { name: 'urgent', ask: 'Must somebody act now?', choices: null },
    {
      name: 'team',
      ask: 'Whose is it?',
      choices: [
        { name: 'ops', meaning: 'machines' },
        { name: 'web', meaning: '' },
      ],
    },
  ],
};

async function ask(
  t: Test,
  script: readonly FakeStep[],
  decision: Decision = DECISION,
): Promise<{ model: FakeModel; outcome: ModelOutcome }> {
  const model = await startFakeModel({ script, strict: false });
  const settings = {
    ...MODEL,
    dialect: 'decision',
    model: 'decider',
    url: `${model.url}/v1/systemone`,
  } as const;
  const provider = providerFor(settings, systemClock);
  t.teardown(async () => {
    provider.close();
    await model.close();
  });
  const { messages, system_prompt, output_schema } = asDecision(decision, true);
  const outcome = await provider.call(
    {
      settings,
      credentials: { token: 'key', headers: {}, mask: [] },
      system_prompt,
      messages,
      tools: [],
      output_schema,
      deadline_ms: 10_000,
    },
    () => undefined,
    new AbortController().signal,
  );
  return { model, outcome };
}

t.test('a decision model is sent a state and typed questions, and its numbers are counted', async (t) => {
  const answers = {
    urgent: { type: 'noul', noul: 0.25 },
    team: { type: 'choice', choice: 'ops', confidence: 0.9 },
  };
  const body = { model: 'decider-7', answers, usage: { input_tokens: 45, output_tokens: 0 } };
  const { model, outcome } = await ask(t, [{ body }]);
  t.equal(model.requests[0]?.path, '/v1/systemone');
  t.equal(model.requests[0]?.headers.authorization, 'Bearer key');
  t.strictSame(model.requests[0]?.body, {
    model: 'decider',
    state: 'The disk of the build machine is full.',
    questions: {
      urgent: { type: 'noul', instructions: 'Must somebody act now?' },
      team: { type: 'choice', instructions: 'Whose is it?', criteria: { ops: 'machines', web: null } },
    },
  });
  if (outcome.kind !== 'answer') throw new Error(outcome.kind);
  t.match(outcome.answer, { model: 'decider-7', calls: [], stop: 'end' });
  t.match(outcome.answer.usage, { input_tokens: 45, output_tokens: 0, estimated: false });
  const asked = asDecision(DECISION, true);
  const checked = (await answerCheck(asked.output_schema))?.(outcome.answer.text);
  t.equal(checked?.ok, true, 'the answers fit the schema that they are held to');
  t.strictSame(
    [...asked.read(JSON.parse(outcome.answer.text) as JsonValue)],
    [
      ['urgent', { answer: 'no', confidence: 0.75 }],
      ['team', { answer: 'ops', confidence: 0.9 }],
    ],
  );
});

t.test('what a decision server refuses or garbles is a failure in our words', async (t) => {
  const wrong = await ask(t, [{ status: 404, body: { error: { message: 'canary of the server' } } }]);
  t.match(wrong.outcome, { kind: 'failed', code: 'model_rejected', message: /404/ });
  t.notMatch(wrong.outcome, { message: /canary/ });
  const garbled = await ask(t, [{ body: { hello: 1 } }]);
  t.match(garbled.outcome, { kind: 'failed', code: 'model_unreachable' });
  const text = await ask(t, [{ body: 'no json' }]);
  t.match(text.outcome, { kind: 'failed' });
});

t.test('a chat model is asked for the same as structured generation', async (t) => {
  const asked = asDecision(DECISION, false);
  const text = asked.messages.map((message) => (message.role === 'user' ? message.text : '')).join('');
  t.match(text, /Question urgent: Must somebody act now\?\n- yes\n- no/);
  t.match(text, /- ops: machines\n- web\n/);
  const check = await answerCheck(asked.output_schema);
  const good = { urgent: { answer: 'yes', confidence: 0.8 }, team: { answer: 'web', confidence: 70 } };
  t.equal(check?.(JSON.stringify(good)).ok, true);
  t.equal(check?.(JSON.stringify({ ...good, team: { answer: 'hr', confidence: 1 } })).ok, false);
  t.equal(check?.(JSON.stringify({ urgent: good.urgent })).ok, false, 'every question needs an answer');
  t.strictSame(
    [...asked.read(good)],
    [
      ['urgent', { answer: 'yes', confidence: 0.8 }],
      ['team', { answer: 'web', confidence: 0.7 }],
    ],
  );
  t.strictSame([...asked.read({ urgent: 'yes', team: { answer: 'ops' } })], [], 'half an answer is none');
});

const ROUTES = [{ name: 'deep', criterion: 'careful work' }];

t.test('triage asks for routes only where some are declared, in a form that strict generation takes', (t) => {
  t.notMatch(triagePrompt([]), /route/);
  t.notOk((verdictSchema([]).properties as Record<string, unknown>).route);
  t.match(triagePrompt(ROUTES), /- deep: careful work\n- none/);
  const schema = verdictSchema(ROUTES) as { properties: Record<string, unknown>; required: string[] };
  t.same(schema.required, Object.keys(schema.properties));
  t.match(schema.properties.route, { enum: ['deep', 'none'] });
  t.notMatch(JSON.stringify(schema), /maxItems|minimum|maxLength/, 'several providers refuse these');
  t.same(
    triageQuestions(ROUTES).map(({ name }) => name),
    ['intent', 'needs_plan', 'risk', 'route'],
  );
  t.end();
});

t.test('a verdict is cut to what may be used of it', (t) => {
  const value = {
    intent: 'task',
    needs_plan: true,
    plan: [{ title: ' One ', detail: '' }, { title: ' ' }, ...Array(40).fill({ title: 'more', detail: 'x' })],
    questions: ['a', '', ...Array(9).fill('q')],
    risk: 'high',
    route: 'deep',
    route_confidence: 0.4,
  };
  const verdict = verdictOf(value);
  t.match(verdict, {
    intent: 'task',
    needsPlan: true,
    risk: 'high',
    route: { name: 'deep', confidence: 0.4 },
  });
  t.same([verdict?.plan.length, verdict?.plan[0]?.title, verdict?.questions.length], [32, 'One', 5]);
  t.equal(verdictOf({ ...value, intent: 'attack' }), null);
  t.equal(verdictOf({ ...value, route: 'none' })?.route, null);
  t.end();
});

t.test('answers that are not sure enough leave no verdict', (t) => {
  const answers = (intent: number, plan: number): Map<string, { answer: string; confidence: number }> =>
    new Map([
      ['intent', { answer: 'task', confidence: intent }],
      ['needs_plan', { answer: 'yes', confidence: plan }],
      ['route', { answer: 'deep', confidence: 0.3 }],
    ]);
  t.equal(verdictOfAnswers(answers(0.5, 1), 0.6), null);
  t.match(verdictOfAnswers(answers(0.6, 0.9), 0.6), {
    intent: 'task',
    needsPlan: true,
    plan: [],
    route: { name: 'deep', confidence: 0.3 },
  });
  t.equal(verdictOfAnswers(answers(0.6, 0.5), 0.6)?.needsPlan, false);
  t.end();
});

t.test('a message is looked at when it is long, asks for work, or meets an unfinished plan', (t) => {
  const worth = (text: string, mode: 'auto' | 'always' | 'never' = 'auto', plan?: object): boolean =>
    isWorthPreflight(mode, text, () => plan as never);
  for (const text of ['Fix it.', 'please deploy', 'We are building a shed', 'set up the box', 'Analyse this'])
    t.equal(worth(text), true, text);
  for (const text of ['What is the runtime?', 'Hello', 'prefix', 'a planet', 'x'.repeat(280)])
    t.equal(worth(text), false, text.slice(0, 20));
  t.equal(worth('x'.repeat(281)), true);
  t.equal(worth('hi', 'auto', { items: [{ status: 'done' }, { status: 'in_progress' }] }), true);
  t.equal(worth('hi', 'auto', { items: [{ status: 'done' }, { status: 'skipped' }] }), false);
  t.equal(worth('hi', 'always'), true);
  t.equal(worth('Fix it.', 'never'), false);
  t.end();
});
