// Our messages against the schemas that clients were written to: the same fields, the same ones required, the same values,
// the same casing. Each difference is listed here with its reason; one that is not listed fails, and so does a reason that
// nothing needs any more. Where those schemas are not at hand, only their absence is told.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import t from 'tap';
import { projectRoot } from '../../schemas/generate.js';
import { protocolTypes, schemaFile } from '../../schemas/protocol-types.js';
import { differences } from '../fakes/schema-shape.js';

const ROOT = projectRoot(import.meta.filename ?? process.argv[1] ?? '');
const ORACLE = join(ROOT, '..', 'shared', 'schemas-oracle');
const FOLDERS = ['', 'extra', 'extra/unverified'];

/** What a line may say, and why. */
const REASONS: readonly (readonly [RegExp, string])[] = [
  [
    /(?:^Turn .*|turn: )has no field prompt_manifest$/,
    'no manifest of the prompt is kept yet; absent is allowed',
  ],
  [
    /(?:^Turn |turn: ).*adds field (?:outcome|error_code|waiting)$/,
    'the end in full, and what is waited for',
  ],
  [
    /^\w+Notification \(root\): adds field sequence$/,
    'the place in the journal, to go on from after a break',
  ],
  [/^TurnItemsParams \(root\): adds field after_sequence$/, 'reads what is new only'],
  [/^TurnStartParams capabilities.*<skill>.*(?:skillId|sourceKind|slug)/, 'skills by slug are taken too'],
  [/has no variant (?:reasoning|task|webSearch|download)$/, 'no tool of ours makes such items yet'],
  [/has no field (?:recoveryPolicy|recovery|outcome|observation)$/, 'not measured yet; absent is allowed'],
  [/<webFetch>.*has no field/, 'what the fetch met is in its result; absent is allowed'],
  [/<fileChange>.*has no field (?:exitCode|stdout|stderr)$/, 'files are changed without a command'],
  [/<systemEvent>.*has no field details$/, 'its message says all'],
  [/<agentMessage>.*has no field markdown(?:Version)?$/, 'clients format the text themselves'],
  [/^ItemDeltaNotification .*has no field (?:payload|markdown|markdown_version)$/, 'absent is allowed'],
  [/^TurnBlockedNotification .*has no field resume$/, 'turns cannot be resumed yet; absent is allowed'],
];

function read(path: string): Record<string, never> {
  return JSON.parse(readFileSync(path, 'utf8'));
}

function oracleFiles(): Map<string, string> {
  const files = FOLDERS.flatMap((folder) =>
    readdirSync(join(ORACLE, folder))
      .filter((name) => name.endsWith('.json'))
      .map((name) => [basename(name), join(ORACLE, folder, name)] as const),
  );
  return new Map(files.reverse());
}

if (existsSync(ORACLE))
  t.test('messages have the shape that clients were written to', async (t) => {
    const oracle = oracleFiles();
    const used = new Set<RegExp>();
    let compared = 0;
    for (const name of protocolTypes().keys()) {
      const file = oracle.get(schemaFile(name));
      if (file === undefined) continue;
      compared += 1;
      for (const line of differences(read(join(ROOT, 'schemas', schemaFile(name))), read(file))) {
        const told = `${name} ${line}`;
        const reason = REASONS.find(([pattern]) => pattern.test(told));
        if (reason === undefined) t.fail(told);
        else used.add(reason[0]);
      }
    }
    t.ok(compared >= 20, `${compared} types were compared`);
    for (const [pattern] of REASONS) if (!used.has(pattern)) t.fail(`nothing needs ${pattern} any more`);
  });
else t.comment('the schemas to compare with are not at hand');

t.test('a difference of each kind is seen', async (t) => {
  const one = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
  const seen = (other: object): string[] => differences(one as never, other as never);
  t.same(seen(one), []);
  t.same(seen({ ...one, required: [] }), ['(root): requires a']);
  t.same(seen({ ...one, properties: { a: { type: 'integer' } } }), ['a: is string, not integer']);
  t.same(seen({ ...one, properties: { a: { type: 'string' }, b: {} } }), ['(root): has no field b']);
  t.same(seen({ ...one, properties: {}, required: [] }), ['(root): requires a', '(root): adds field a']);
  t.same(seen({ ...one, properties: { a: { type: ['string', 'null'] } } }), [
    'a: is string, not null|string',
  ]);
});
