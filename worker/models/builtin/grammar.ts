// The grammar of the built-in model as people read it: the help answer prints it, the README repeats it, and a test
// holds both, and every example, against the parser.
import type { CommandKind } from './command.js';

export interface GrammarRow {
  readonly kind: Exclude<CommandKind, 'unknown'>;
  readonly form: string;
  readonly does: string;
  readonly examples: readonly string[];
}

export const GRAMMAR: readonly GrammarRow[] = [
  {
    kind: 'summarise',
    form: 'summarise this folder, or PATH',
    does: 'says what a folder or file holds',
    examples: ['Summarise this folder', 'summarize README.md', 'what is in src?'],
  },
  {
    kind: 'list',
    form: 'list [PATH] [recursively]',
    does: 'lists a folder',
    examples: ['list src', 'show me the files', 'list src recursively'],
  },
  {
    kind: 'read',
    form: 'read PATH [lines A-B]',
    does: 'prints a file or some lines (also: first N lines, last N lines)',
    examples: ['read package.json', 'read package.json lines 1-40', 'show the last 20 lines of build.log'],
  },
  {
    kind: 'search',
    form: 'search for TEXT [in PATH]',
    does: 'finds text in files (also: /REGEX/, ignoring case)',
    examples: ['search for TODO in src', 'search for "open file" ignoring case', 'search for /fo+/ in src'],
  },
  {
    kind: 'find',
    form: 'find files GLOB [in PATH]',
    does: 'finds files by name',
    examples: ['find files *.ts in src', 'find **/*.md'],
  },
  {
    kind: 'run',
    form: 'run COMMAND',
    does: 'runs a shell command, shows what it printed',
    examples: ['run npm test', 'run: `ls -l`', 'run `make all` in src'],
  },
  {
    kind: 'write',
    form: 'write TEXT to PATH',
    does: 'writes a file (TEXT may be "it": what the step before gave)',
    examples: ['write hello to notes.txt', 'create notes.txt with "first line"'],
  },
  {
    kind: 'fetch',
    form: 'fetch URL',
    does: 'gets a web page or file',
    examples: ['fetch http://example.com/'],
  },
  {
    kind: 'help',
    form: 'help',
    does: 'prints this list',
    examples: ['help', 'what can you do?'],
  },
];

/** How several requests go into one message. */
export const SEQUENCE_NOTE =
  'Join steps with `and then`, `; then` or line breaks. Quote names that have spaces, and texts.';

export const SEQUENCE_EXAMPLE = 'run npm test and then write it to test.log';

/** The lines of the grammar, as the help answer and the README show them. */
export function grammarLines(): string[] {
  const width = Math.max(...GRAMMAR.map((row) => row.form.length));
  return GRAMMAR.map((row) => `${row.form.padEnd(width)}  ${row.does}`);
}
