// What the import graph as a whole must not have: cycles, exports and files that nobody uses, and barrels.
import { type SourceFile, type SyntaxNode, walk } from './source.js';

/** Imports of types count too: a cycle of types is a cycle of ideas. */
export function cycles(files: readonly SourceFile[]): string[] {
  const known = new Map(files.map((file) => [file.path, file]));
  const state = new Map<string, 'open' | 'done'>();
  const found: string[] = [];
  const trail: string[] = [];
  const visit = (path: string): void => {
    if (state.get(path) === 'done') return;
    if (state.get(path) === 'open') {
      const loop = [...trail.slice(trail.indexOf(path)), path];
      found.push(`import cycle: ${loop.join(' → ')}; move what both need to a file of its own`);
      return;
    }
    state.set(path, 'open');
    trail.push(path);
    for (const { target } of known.get(path)?.imports ?? []) {
      if (target !== null && known.has(target)) visit(target);
    }
    trail.pop();
    state.set(path, 'done');
  };
  for (const { path } of files) visit(path);
  return found;
}

/** Tests and the generator are not the product, but what is made for them is alive by them. */
const isTooling = (path: string): boolean => path.startsWith('test/') || path.startsWith('schemas/');

/** Types that other exports of the file are made of: whoever uses those may need the names. */
function namedByExports(file: SourceFile): Set<string> {
  const named = new Set<string>();
  for (const statement of file.program.body as SyntaxNode[]) {
    const declaration = statement.type.startsWith('Export')
      ? (statement.declaration as SyntaxNode | null)
      : null;
    if (!declaration) continue;
    const own = (declaration.id as { readonly name?: string } | undefined)?.name;
    walk(declaration, (node) => {
      const name =
        node.type === 'TSTypeReference' ? (node.typeName as { readonly name?: string }).name : undefined;
      if (name !== undefined && name !== own) named.add(name);
    });
  }
  return named;
}

/** True when the file itself uses the name besides declaring it. */
function usesItself(file: SourceFile, name: string): boolean {
  let seen = 0;
  walk(file.program, (node) => {
    if (node.type === 'Identifier' && node.name === name) seen += 1;
  });
  return seen > 1;
}

/** Imports by file, with the names taken from it. */
function usersOf(files: readonly SourceFile[]): Map<string, Map<string, 'product' | 'tooling'>> {
  const users = new Map<string, Map<string, 'product' | 'tooling'>>();
  for (const file of files) {
    for (const { target, names } of file.imports) {
      if (target === null) continue;
      const of = users.get(target) ?? new Map<string, 'product' | 'tooling'>();
      for (const name of names)
        if (of.get(name) !== 'product') of.set(name, isTooling(file.path) ? 'tooling' : 'product');
      users.set(target, of);
    }
  }
  return users;
}

/** An export that only tests take must at least be at work in its own file; what only tests call is dead. */
export function deadExports(files: readonly SourceFile[]): string[] {
  const users = usersOf(files);
  return files.flatMap((file) => {
    const by = users.get(file.path) ?? new Map<string, 'product' | 'tooling'>();
    const named = namedByExports(file);
    return file.exports.flatMap(({ name, isType, line }) => {
      const user = by.get(name) ?? by.get('*');
      const alive =
        user === 'product' || (user === 'tooling' && isTooling(file.path)) || (isType && named.has(name));
      if (alive || (user === 'tooling' && usesItself(file, name))) return [];
      const who = user === 'tooling' ? 'only tests use' : 'no other file uses';
      return [`${file.path}:${line} exports ${name}, which ${who}; drop \`export\`, or the code`];
    });
  });
}

/** Files that no entry reaches. Entries are programs of their own: mains, tests, the generator. */
export function deadFiles(files: readonly SourceFile[], isEntry: (path: string) => boolean): string[] {
  const known = new Map(files.map((file) => [file.path, file]));
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path)) return;
    reached.add(path);
    for (const { target } of known.get(path)?.imports ?? []) if (target !== null) visit(target);
  };
  for (const { path } of files) if (isEntry(path)) visit(path);
  return files
    .filter(({ path }) => !reached.has(path))
    .map(({ path }) => `${path} is reached from no entry; use it or remove it`);
}

/** A file that only passes on what others export hides where things are. */
export function barrels(files: readonly SourceFile[]): string[] {
  return files
    .filter((file) => {
      const body = file.program.body as readonly { readonly type: string; readonly source?: unknown }[];
      return body.length > 0 && body.every(({ type, source }) => type.startsWith('Export') && source);
    })
    .map(({ path }) => `${path} only re-exports; import from the files themselves`);
}
