// Small files, small functions. What is larger stands in allowed-large.json with a reason, and may only shrink.
import { calls, type SourceFile, type SyntaxNode, walk } from './source.js';

const FILE_LINES_MAX = 300;
export const FUNCTION_LINES_MAX = 70;

/** Key: a path, or `path#function`. */
export type Allowed = Readonly<Record<string, { readonly lines: number; readonly reason: string }>>;

interface Sized {
  readonly key: string;
  readonly where: string;
  readonly lines: number;
  readonly max: number;
}

export function sizeBreaches(files: readonly SourceFile[], allowed: Allowed): string[] {
  const all = files.flatMap((file) => [
    { key: file.path, where: file.path, lines: file.lines, max: FILE_LINES_MAX },
    ...functionsOf(file),
  ]);
  const sizes = new Map(all.map((one) => [one.key, one]));
  return [...all.flatMap((one) => tooLarge(one, allowed)), ...stale(sizes, allowed)];
}

function tooLarge({ key, where, lines, max }: Sized, allowed: Allowed): string[] {
  if (lines <= (allowed[key]?.lines ?? max)) return [];
  const limit = allowed[key] === undefined ? `${max}` : `the ${allowed[key].lines} it was allowed`;
  return [`${where} has ${lines} lines, more than ${limit}; split it by what its parts are about`];
}

function stale(sizes: ReadonlyMap<string, Sized>, allowed: Allowed): string[] {
  return Object.entries(allowed).flatMap(([key, { lines, reason }]) => {
    const now = sizes.get(key);
    const entry = `test/house/allowed-large.json: ${key}`;
    if (now === undefined) return [`${entry} no longer exists; remove the entry`];
    if (now.lines <= now.max) return [`${entry} has only ${now.lines} lines now; remove the entry`];
    if (now.lines < lines)
      return [`${entry} shrank from ${lines} to ${now.lines} lines; write the new number`];
    return reason.length < 10 ? [`${entry} has no reason`] : [];
  });
}

const TEST = /^(?:t|test|tap)\.test$/;

/** A test that only holds tests is a heading; its length is theirs. */
function isTestGroup(node: SyntaxNode, parents: readonly SyntaxNode[]): boolean {
  const parent = parents.at(-1);
  if (parent === undefined || !calls(parent, TEST)) return false;
  let inner = false;
  walk(node, (one) => {
    if (calls(one, TEST)) inner = true;
  });
  return inner;
}

const FUNCTIONS = new Set(['FunctionDeclaration', 'FunctionExpression', 'ArrowFunctionExpression']);

function functionsOf(file: SourceFile): Sized[] {
  const found: Sized[] = [];
  walk(file.program, (node, parents) => {
    if (!FUNCTIONS.has(node.type) || typeof node.body !== 'object' || node.body === null) return;
    if (isTestGroup(node, parents)) return;
    const line = file.lineOf(node.start);
    const name = nameOf(node, parents);
    const lines = file.lineOf(node.end - 1) - line + 1;
    found.push({
      key: `${file.path}#${name}`,
      where: `${file.path}:${line} function ${name}`,
      lines,
      max: FUNCTION_LINES_MAX,
    });
  });
  return found;
}

function nameOf(node: SyntaxNode, parents: readonly SyntaxNode[]): string {
  const own = (node.id as { readonly name?: string } | null)?.name;
  if (own !== undefined) return own;
  const parent = parents.at(-1);
  const label = (parent?.key ?? parent?.id) as { readonly name?: string } | undefined;
  return label?.name ?? 'without a name';
}
