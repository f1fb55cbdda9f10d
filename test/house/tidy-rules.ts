// What single files must not hold: hidden clocks and randomness, stray output, the environment, escapes from the type
// checker, promises of later work, tests that do not run.
import { calls, dotted, type Named, type SourceFile, type SyntaxNode, walk } from './source.js';

interface Ban {
  readonly what: string;
  readonly instead: string;
  /** Files to which it does not apply. */
  readonly except: (path: string) => boolean;
  readonly matches: (node: SyntaxNode, parents: readonly SyntaxNode[]) => boolean;
}

const isTest = (path: string): boolean => path.startsWith('test/');
const isTooling = (path: string): boolean => isTest(path) || path.startsWith('schemas/');

const imports = (node: SyntaxNode, module: RegExp, names?: RegExp): boolean => {
  if (node.type !== 'ImportDeclaration' || !module.test(String((node.source as Named)?.value))) return false;
  if (names === undefined) return true;
  return (node.specifiers as { imported?: Named }[]).some((one) => names.test(one.imported?.name ?? ''));
};

const BANS: readonly Ban[] = [
  {
    what: 'reads the clock or sets a timer',
    instead: 'take a Clock (shared/clock.ts), so that a test can hold the time',
    except: (path) => isTooling(path) || path === 'shared/clock.ts',
    matches: (node) =>
      calls(node, /^(?:Date\.now|performance\.now|process\.hrtime|hrtime\.bigint|AbortSignal\.timeout)$/) ||
      calls(node, /^(?:globalThis\.)?(?:setTimeout|setInterval)$/) ||
      (calls(node, /^Date$/) &&
        (node.type === 'CallExpression' || (node.arguments as unknown[]).length === 0)) ||
      imports(node, /^(?:node:)?timers/, /^(?!setImmediate$)/),
  },
  {
    what: 'draws randomness',
    instead: 'use shared/ids.ts',
    except: (path) => isTooling(path) || path === 'shared/ids.ts',
    matches: (node) =>
      calls(node, /^Math\.random$/) ||
      calls(node, /(?:^|\.)(?:randomUUID|randomBytes|randomInt|getRandomValues)$/) ||
      imports(node, /crypto$/, /^random/),
  },
  {
    what: 'prints with console',
    instead: 'take a logger or a stream',
    except: (path) => path.startsWith('test/bench/'),
    matches: (node) => dotted(node).startsWith('console.'),
  },
  {
    what: 'reads the environment',
    instead: 'only config/ and supervisor/ do; hand the value in (the worker gets it by a frame)',
    except: (path) =>
      isTooling(path) ||
      /^(?:config|supervisor)\//.test(path) ||
      // What commands inherit, cut down by an allow-list; it would be absurd to send a worker its own PATH.
      path === 'worker/sandbox/base-environment.ts',
    matches: (node) => dotted(node) === 'process.env' || imports(node, /^(?:node:)?process$/, /^env$/),
  },
  {
    what: 'uses the type any',
    instead: 'use unknown and narrow it',
    except: () => false,
    matches: (node) => node.type === 'TSAnyKeyword',
  },
  {
    what: 'claims with ! that a value is there',
    instead: 'handle its absence, or assert it',
    except: () => false,
    matches: (node) => node.type === 'TSNonNullExpression',
  },
  {
    what: 'is a test that does not run, or cannot fail',
    instead:
      'remove skip, todo, only or pass; if it needs something this machine lacks, it must fail and say so',
    except: (path) => !isTest(path),
    matches: (node, parents) =>
      calls(node, /^(?:t|test|tap)\.(?:skip|todo|only|pass)$/) ||
      (node.type === 'Property' &&
        /^(?:skip|todo|only)$/.test((node.key as Named)?.name ?? '') &&
        parents.some((parent) => calls(parent, /^(?:t|test|tap)\.test$/) && !insideBody(parent, node))),
  },
];

/** True when the node stands in the function of a test, not in its options. */
function insideBody(call: SyntaxNode, node: SyntaxNode): boolean {
  const last = (call.arguments as SyntaxNode[]).at(-1);
  return last !== undefined && /Function/.test(last.type) && node.start >= last.start;
}

export function tidyBreaches(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => {
    const bans = BANS.filter((ban) => !ban.except(file.path));
    const found: string[] = [];
    walk(file.program, (node, parents) => {
      for (const ban of bans) {
        if (!ban.matches(node, parents)) continue;
        found.push(`${file.path}:${file.lineOf(node.start)} ${ban.what}; ${ban.instead}`);
      }
    });
    return found;
  });
}

/** Comments promise nothing, switch nothing off without a reason, and say first what the file is. */
export function commentBreaches(files: readonly SourceFile[]): string[] {
  const later = new RegExp(
    `\\b(?:${['TO', 'FIX', 'X', 'HA'].map((a, n) => a + ['DO', 'ME', 'XX', 'CK'][n]).join('|')})\\b`,
  );
  return files.flatMap((file) => {
    const found: string[] = [];
    for (const { text, line } of file.comments) {
      const where = `${file.path}:${line}`;
      if (later.test(text)) found.push(`${where} puts work off; do it now, or file it where work is planned`);
      if (/@ts-(?:ignore|nocheck)/.test(text))
        found.push(`${where} switches the type checker off; fix the type`);
      if (/biome-ignore(?!.*:\s*\S{3,}\s+\S)/.test(text))
        found.push(`${where} switches a lint rule off without saying why`);
      if (/^\s*(?:step\s*)?\d+[.)]\s/i.test(text)) found.push(`${where} numbers its steps; say why instead`);
    }
    const first = file.comments[0];
    const headed = first !== undefined && first.line <= 2 && /^(?:#!|\/\/|\/\*)/.test(file.text);
    if (!headed && !isTest(file.path)) found.push(`${file.path}:1 does not begin by saying what it owns`);
    return found;
  });
}

/** A test that only holds others may be named by what they are about. */
function isGroup(test: SyntaxNode): boolean {
  let inner = false;
  walk(test, (node) => {
    if (node !== test && calls(node, /^(?:t|test|tap)\.test$/)) inner = true;
  });
  return inner;
}

/** Two tests of one name in a file cannot be told apart when one fails; a name of one word says nothing. */
export function testNameBreaches(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => path.endsWith('.test.ts'))
    .flatMap((file) => {
      const found: string[] = [];
      const seen = new Set<string>();
      walk(file.program, (node) => {
        if (!calls(node, /^(?:t|test|tap)\.test$/)) return;
        const name = (node.arguments as Named[])[0]?.value;
        if (typeof name !== 'string') return;
        const where = `${file.path}:${file.lineOf(node.start)}`;
        if (name.trim().split(/\s+/).length < 3 && !isGroup(node))
          found.push(`${where} "${name}": name the behaviour in a sentence`);
        if (seen.has(name))
          found.push(`${where} "${name}" stands twice in this file; give each its own name`);
        seen.add(name);
      });
      return found;
    });
}
