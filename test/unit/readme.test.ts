// The README repeats what the code says: the grammar, the configuration with its defaults, the flags, the exit codes.
// Each is compared with its source here, so that neither can change alone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { DEFAULTS } from '../../config/defaults.js';
import { CONFIG, leavesOf } from '../../config/schema.js';
import { EXIT } from '../../supervisor/exit-codes.js';
import { grammarLines, SEQUENCE_EXAMPLE, SEQUENCE_NOTE } from '../../worker/models/builtin/grammar.js';
import { ROOT } from '../fakes/run-turnd.js';

const README = readFileSync(join(ROOT, 'README.md'), 'utf8');

/** What stands between two marks of the README. */
function section(name: string): string {
  const match = new RegExp(`<!-- ${name} -->\\n\\n([\\s\\S]*?)\\n\\n<!-- /${name} -->`).exec(README);
  return match?.[1] ?? '';
}

function defaultOf(path: string, unit: string): unknown {
  const keys = path.split('.');
  let at: unknown = DEFAULTS;
  for (const [index, key] of keys.entries())
    at = (at as Record<string, unknown>)[index === keys.length - 1 ? key + unit : key];
  return at;
}

function configRows(): string[] {
  return leavesOf(CONFIG).map(({ path, leaf }) => {
    const value = defaultOf(path, leaf.unit);
    const shown = value === null || value === '' ? '' : leaf.show(value);
    return `| \`${path}\` | ${shown} | ${leaf.description.replaceAll('|', '\\|')} |`;
  });
}

t.test('the README shows the grammar of the built-in model as it is', async (t) => {
  const expected = [
    ...grammarLines().map((line) => `    ${line}`),
    '',
    SEQUENCE_NOTE,
    `For example: \`${SEQUENCE_EXAMPLE}\`.`,
  ];
  t.equal(section('grammar'), expected.join('\n'));
});

t.test('the README shows every configuration key with its default', async (t) => {
  const expected = ['| key | default | what |', '| --- | --- | --- |', ...configRows()];
  t.equal(section('config'), expected.join('\n'));
});

t.test('the README names every exit code of a job and no other', async (t) => {
  const table = /### Exit codes\n\n([\s\S]*?)\n\n/.exec(README)?.[1] ?? '';
  const codes = [...table.matchAll(/^\| ([\d, ]+) \|/gm)].flatMap((match) =>
    (match[1] ?? '').split(',').map(Number),
  );
  t.same(
    codes.sort((left, right) => left - right),
    Object.values(EXIT).sort((left, right) => left - right),
  );
});

t.test('the README names every flag of a job', async (t) => {
  const program = readFileSync(join(ROOT, 'supervisor/cli/program.ts'), 'utf8');
  const job = program.slice(
    program.indexOf('function declareJob'),
    program.indexOf('function declareConfig'),
  );
  const flags = [...job.matchAll(/(--[a-z-]+)/g)].map((match) => match[1] ?? '');
  t.ok(flags.length > 10, 'the flags were found');
  for (const flag of new Set(flags)) t.ok(README.includes(`${flag}`), flag);
});

t.test('the README stays short and its first commands are the whole set-up', async (t) => {
  t.ok(README.split('\n').length < 400);
  const first = [...README.matchAll(/^ {4}(.+)$/gm)].slice(0, 2).map((match) => match[1]);
  t.same(first, ['npm ci && npm start -- --prompt "Summarise this folder"', 'npm ci && npm test']);
});
