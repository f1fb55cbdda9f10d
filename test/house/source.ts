// The source of the project as data: every TypeScript file with its imports, exports and functions, parsed once.
// House rules are pure functions of these, so each can also be shown a small breach of its own.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path/posix';
import { fileURLToPath } from 'node:url';
import { parseSync, visitorKeys } from 'oxc-parser';
import { projectRoot } from '../../schemas/generate.js';

export const ROOT = projectRoot(fileURLToPath(import.meta.url));

/** The folders that hold source. */
const SOURCE_FOLDERS = ['config', 'schemas', 'shared', 'supervisor', 'test', 'worker'];

export interface Import {
  /** As written. */
  readonly specifier: string;
  /** Path below the root of the file it names; null for packages and built-ins. */
  readonly target: string | null;
  /** Imported names as the other file exports them; `*` for all of it. */
  readonly names: readonly string[];
  readonly typeOnly: boolean;
  readonly line: number;
}

export interface Exported {
  readonly name: string;
  readonly isType: boolean;
  readonly line: number;
}

/** A node of the syntax tree, as far as rules look at it. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [key: string]: unknown;
}

export interface SourceFile {
  readonly path: string;
  readonly text: string;
  readonly lines: number;
  readonly imports: readonly Import[];
  readonly exports: readonly Exported[];
  readonly program: SyntaxNode;
  /** Text of the comments, with their lines. */
  readonly comments: readonly { readonly text: string; readonly line: number }[];
  lineOf(offset: number): number;
}

export function parseFile(path: string, text: string): SourceFile {
  const parsed = parseSync(path, text);
  const fault = parsed.errors[0];
  if (fault !== undefined) throw new Error(`${path} cannot be parsed: ${fault.message}`);
  const starts = lineStarts(text);
  const lineOf = (offset: number): number => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return low + 1;
  };
  const program = parsed.program as unknown as SyntaxNode;
  return {
    path,
    text,
    lines: text.endsWith('\n') ? starts.length - 1 : starts.length,
    imports: [...staticImports(path, parsed.module, lineOf), ...dynamicImports(path, program, lineOf)],
    exports: parsed.module.staticExports.flatMap(({ entries }) =>
      entries.map((entry) => ({
        name: entry.exportName.name ?? 'default',
        isType: entry.isType,
        line: lineOf(entry.start),
      })),
    ),
    program,
    comments: parsed.comments.map((comment) => ({ text: comment.value, line: lineOf(comment.start) })),
    lineOf,
  };
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

type Module = ReturnType<typeof parseSync>['module'];

function staticImports(path: string, module: Module, lineOf: (offset: number) => number): Import[] {
  const imports = module.staticImports.map((one) => ({
    specifier: one.moduleRequest.value,
    target: targetOf(path, one.moduleRequest.value),
    names: one.entries.map((entry) =>
      entry.importName.kind === 'NamespaceObject' ? '*' : (entry.importName.name ?? 'default'),
    ),
    typeOnly: one.entries.length > 0 && one.entries.every((entry) => entry.isType),
    line: lineOf(one.start),
  }));
  const forwards = module.staticExports.flatMap(({ entries }) =>
    entries.flatMap((entry) => {
      const specifier = entry.moduleRequest?.value;
      if (specifier === undefined) return [];
      const names = [entry.importName.name ?? '*'];
      const target = targetOf(path, specifier);
      return [{ specifier, target, names, typeOnly: entry.isType, line: lineOf(entry.start) }];
    }),
  );
  return [...imports, ...forwards];
}

/** `await import('…')`, with the names that are taken from it where that can be seen; else all of it. */
function dynamicImports(path: string, program: SyntaxNode, lineOf: (offset: number) => number): Import[] {
  const found: Import[] = [];
  walk(program, (node, parents) => {
    if (node.type !== 'ImportExpression' && node.type !== 'TSImportType') return;
    const source = node.source as { readonly value?: unknown } | undefined;
    if (typeof source?.value !== 'string') return;
    const names = namesTaken(parents);
    const typeOnly = node.type === 'TSImportType';
    const specifier = source.value;
    found.push({ specifier, target: targetOf(path, specifier), names, typeOnly, line: lineOf(node.start) });
  });
  return found;
}

function namesTaken(parents: readonly SyntaxNode[]): string[] {
  const outer = parents.filter((node) => !/^(Await|Parenthesized)Expression$/.test(node.type)).at(-1);
  if (outer?.type === 'MemberExpression') return [(outer.property as { name?: string }).name ?? '*'];
  const pattern = outer?.type === 'VariableDeclarator' ? (outer.id as SyntaxNode) : undefined;
  if (pattern?.type !== 'ObjectPattern') return ['*'];
  return (pattern.properties as { key?: { name?: string } }[]).map((property) => property.key?.name ?? '*');
}

function targetOf(path: string, specifier: string): string | null {
  if (!specifier.startsWith('.')) return null;
  return normalize(join(dirname(path), specifier)).replace(/\.js$/, '.ts');
}

/** Visits every node, outermost first; `parents` from the program inwards. */
export function walk(
  root: SyntaxNode,
  visit: (node: SyntaxNode, parents: readonly SyntaxNode[]) => void,
): void {
  const parents: SyntaxNode[] = [];
  const step = (node: SyntaxNode): void => {
    visit(node, parents);
    parents.push(node);
    for (const key of visitorKeys[node.type] ?? []) {
      const child = node[key];
      for (const one of Array.isArray(child) ? child : [child]) {
        if (typeof one === 'object' && one !== null && 'type' in one) step(one as SyntaxNode);
      }
    }
    parents.pop();
  };
  step(root);
}

/** A node that may carry a name or a literal value. */
export type Named =
  | { readonly type?: string; readonly name?: string; readonly value?: unknown }
  | null
  | undefined;

/** `a.b` as "a.b"; the last two names of longer chains. */
export function dotted(node: SyntaxNode): string {
  if (node.type !== 'MemberExpression') return '';
  const object = node.object as SyntaxNode & Named;
  const property = node.property as Named;
  const left = object.type === 'Identifier' ? object.name : (object.property as Named)?.name;
  return `${left ?? '?'}.${property?.name ?? property?.value ?? '?'}`;
}

/** True for a call or construction of something whose (dotted) name matches. */
export function calls(node: SyntaxNode, names: RegExp): boolean {
  if (node.type !== 'CallExpression' && node.type !== 'NewExpression') return false;
  const callee = node.callee as SyntaxNode & Named;
  return names.test(callee.type === 'Identifier' ? (callee.name ?? '') : dotted(callee));
}

/** Every file below the source folders whose name ends so, as paths below the root. */
function filesBelow(folders: readonly string[], ending: string): string[] {
  return folders
    .flatMap((folder) =>
      readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' }).map((path) =>
        join(folder, path),
      ),
    )
    .filter((path) => path.endsWith(ending))
    .sort();
}

let project: readonly SourceFile[] | undefined;

/** The whole project, parsed at most once a process. */
export function projectFiles(): readonly SourceFile[] {
  project ??= filesBelow(SOURCE_FOLDERS, '.ts')
    .filter((path) => !path.endsWith('.d.ts') && !path.startsWith('test/fixtures/'))
    .map((path) => parseFile(path, readFileSync(join(ROOT, path), 'utf8')));
  return project;
}
