// Answers that must match a JSON Schema. The real loop in process.
import t from 'tap';
import type { JsonObject } from '../../shared/json.js';
import { playTurn } from '../fakes/played-turn.js';
import { answer, asks, says } from '../fakes/scripted-provider.js';

const tools = { finish: () => 'noted' };

const SCHEMA: JsonObject = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  properties: { n: { type: 'integer', minimum: 1 } },
  required: ['n'],
  additionalProperties: false,
};

t.test('a structured answer is found in what surrounds it', async (t) => {
  const ways = [
    '{"n":1}',
    '```json\n{"n":1}\n```',
    'Here you are: {"n":1}. Enjoy!',
    ' \n{ "n" : 1 }\n',
    'See [1]: {"n":1}',
  ];
  for (const way of ways) {
    const { outcome, provider } = await playTurn({ snapshot: { output_schema: SCHEMA }, steps: [says(way)] });
    t.match(outcome, { status: 'completed', reply: '{"n":1}' }, way);
    t.same(provider.requests[0]?.output_schema, SCHEMA);
  }
  const list = await playTurn({
    snapshot: { output_schema: { type: 'array' } },
    steps: [says('It is [1, 2].')],
  });
  t.equal(list.outcome.reply, '[1,2]');
});

t.test('a miss is asked for again twice, with the reason, and both stay in the transcript', async (t) => {
  const { outcome, link } = await playTurn({
    snapshot: { output_schema: SCHEMA },
    steps: [says('none'), says('{"n":0}'), says('{"n":2}')],
  });
  t.match(outcome, { status: 'completed', reply: '{"n":2}', rounds: 3 });
  t.match(
    link.journal.filter((event) => event.kind !== 'usage'),
    [
      { kind: 'assistant_message', text: 'none' },
      { kind: 'note', text: /no valid JSON/ },
      { kind: 'assistant_message', text: '{"n":0}' },
      { kind: 'note', text: /n must be >= 1/ },
      { kind: 'assistant_message' },
    ],
  );
});

t.test('a third miss fails the turn', async (t) => {
  const { outcome } = await playTurn({
    snapshot: { output_schema: SCHEMA },
    steps: [says('a'), says('b'), says('c')],
  });
  t.match(outcome, { status: 'failed', reply: 'c', error: { code: 'schema_mismatch' } });
});

t.test('what finish hands over must match the schema as well', async (t) => {
  const { outcome } = await playTurn({
    tools,
    snapshot: { output_schema: SCHEMA },
    steps: [asks(['finish', { output: { n: 0 } }]), asks(['finish', { output: { n: 3 } }])],
  });
  t.match(outcome, { status: 'completed', reply: '{"n":3}', rounds: 2 });
  const text = answer({
    text: '{"n":4}',
    calls: [{ provider_id: '', wire_name: 'finish', arguments_text: '' }],
  });
  const spoken = await playTurn({ tools, snapshot: { output_schema: SCHEMA }, steps: [text] });
  t.match(spoken.outcome, { status: 'completed', reply: '{"n":4}' });
});

t.test('a schema that is none fails the turn before any model call', async (t) => {
  const { outcome, provider } = await playTurn({
    snapshot: { output_schema: { type: 'sideways' } },
    steps: [],
  });
  t.match(outcome, { status: 'failed', error: { code: 'usage' } });
  t.equal(provider.requests.length, 0);
});

t.test('an older draft of JSON Schema works too', async (t) => {
  const schema = { ...SCHEMA, $schema: 'http://json-schema.org/draft-07/schema#' };
  const { outcome } = await playTurn({ snapshot: { output_schema: schema }, steps: [says('{"n":5}')] });
  t.equal(outcome.reply, '{"n":5}');
});
