// Who may import whom. Each breach is one sentence that says where it is and what to do instead.
import type { Import, SourceFile } from './source.js';

/**
 * Folders of the supervisor by height. A folder imports only lower ones, so that every call goes down and answers return
 * as values; folders of one height do not know each other.
 */
const HEIGHT: Readonly<Record<string, number>> = {
  cli: 8,
  gateway: 7,
  handlers: 6,
  subagents: 6,
  intake: 5,
  dispatch: 5,
  snapshot: 4,
  context: 4,
  tools: 4,
  approvals: 3,
  budgets: 3,
  mcp: 3,
  intelligence: 3,
  store: 2,
  processes: 2,
  observe: 1,
};

/** Files beside the folders: who may import them, by height. `kill-point` is called from the middle of writes. */
const ROOT_FILES: Readonly<Record<string, number>> = {
  'kill-point.ts': 2,
  'version.ts': 1,
  'exit-codes.ts': 7,
  'compose.ts': 7,
  'supervisor.ts': 7,
  'recover-store.ts': 7,
  'telling.ts': 7,
};
/** They put everything together. */
const KNOW_ALL = [
  'supervisor/main.ts',
  'supervisor/compose.ts',
  'supervisor/recover-store.ts',
  'supervisor/supervisor.ts',
];

/** Packages and built-ins that only some folders may touch, and why. */
const RESERVED: Readonly<Record<string, { readonly only: readonly string[]; readonly why: string }>> = {
  'better-sqlite3': {
    only: ['supervisor/store/'],
    why: 'nobody else sees SQL; ask supervisor/store for a method',
  },
  ws: {
    only: ['supervisor/gateway/', 'shared/client/'],
    why: 'only the edge and the client speak WebSocket',
  },
  pino: { only: ['supervisor/observe/'], why: 'take a logger instead' },
  msgpackr: { only: ['shared/ipc/codec.ts'], why: 'the codec alone knows the encoding' },
  yaml: { only: ['config/yaml-source.ts'], why: 'it is slow to load; go through config/load.ts' },
  commander: { only: ['supervisor/cli/'], why: 'only the command line parses arguments' },
  'node:child_process': {
    only: ['supervisor/processes/', 'worker/'],
    why: 'what starts processes must also end them; use supervisor/processes',
  },
};

/** What each top folder may import besides itself. Packages by name; everything not listed is refused. */
const ALLOWED: Readonly<Record<string, { readonly folders: readonly string[]; readonly modules?: RegExp }>> =
  {
    shared: { folders: [], modules: /^(?:valibot|msgpackr|ws|node:assert|node:crypto)$/ },
    config: { folders: ['shared'], modules: /^(?:valibot|yaml|node:(?:assert|fs|path|util|net))$/ },
    worker: { folders: ['shared'] },
    supervisor: { folders: ['shared', 'config', 'schemas'] },
    schemas: { folders: ['shared', 'config'] },
    test: { folders: ['shared', 'config', 'schemas', 'supervisor', 'worker'] },
  };

export function importBreaches(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) =>
    file.imports.flatMap((one) => {
      const complaint =
        folderBreach(file.path, one) ?? moduleBreach(file.path, one) ?? heightBreach(file.path, one);
      return complaint === undefined
        ? []
        : [`${file.path}:${one.line} imports ${one.specifier}: ${complaint}`];
    }),
  );
}

function folderBreach(path: string, { target, specifier }: Import): string | undefined {
  const from = topOf(path);
  const rule = ALLOWED[from];
  if (rule === undefined) return `there is no rule for ${from}/ yet; add one to test/house/import-rules.ts`;
  if (target === null) {
    if (rule.modules === undefined || rule.modules.test(packageOf(specifier))) return undefined;
    return `${from}/ is pure: it may import only ${rule.modules.source}; hand in what it needs`;
  }
  const to = topOf(target);
  if (to === from) return undefined;
  // Generated files are data; whoever bundles may read them.
  if (to === 'schemas' && from !== 'test' && !target.endsWith('.json'))
    return 'only the generated .json may be imported';
  return rule.folders.includes(to)
    ? undefined
    : `${from}/ may import ${rule.folders.join(', ') || 'nothing else'} only`;
}

function moduleBreach(path: string, { specifier, target }: Import): string | undefined {
  if (target !== null || path.startsWith('test/')) return undefined;
  const rule = RESERVED[packageOf(specifier)];
  if (rule === undefined || rule.only.some((prefix) => path.startsWith(prefix))) return undefined;
  return `only ${rule.only.join(' and ')} may; ${rule.why}`;
}

function heightBreach(path: string, { target }: Import): string | undefined {
  if (target === null || !path.startsWith('supervisor/') || !target.startsWith('supervisor/'))
    return undefined;
  if (target === 'supervisor/main.ts') return 'nobody imports the entry';
  if (KNOW_ALL.includes(path)) return undefined;
  const [from, to] = [placeOf(path), placeOf(target)];
  if (from === to) return undefined;
  const low = HEIGHT[to] ?? ROOT_FILES[to];
  const high = HEIGHT[from] ?? ROOT_FILES[from];
  if (low === undefined) return `supervisor/${to} has no height yet; add it to test/house/import-rules.ts`;
  if (high === undefined) return `supervisor/${from} has no height yet; add it to test/house/import-rules.ts`;
  const fits = to in ROOT_FILES || from in ROOT_FILES ? high >= low : high > low;
  return fits
    ? undefined
    : `supervisor/${from} does not stand above supervisor/${to}; pass a value or a callback instead`;
}

function topOf(path: string): string {
  return path.split('/')[0] ?? '';
}

/** `supervisor/store/open.ts` → `store`; `supervisor/version.ts` → `version.ts` */
function placeOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** Product code uses only what an installation brings along. */
export function dependencyBreaches(
  files: readonly SourceFile[],
  manifest: { readonly dependencies: object; readonly devDependencies: object },
  buildScripts: string,
): string[] {
  const breaches: string[] = [];
  const used = new Set<string>();
  for (const file of files) {
    for (const { specifier, target, line, typeOnly } of file.imports) {
      if (target !== null || specifier.startsWith('node:')) continue;
      const name = packageOf(specifier);
      used.add(name);
      const tool = file.path.startsWith('test/') || file.path.startsWith('schemas/');
      const known = name in manifest.dependencies || ((tool || typeOnly) && name in manifest.devDependencies);
      if (!known)
        breaches.push(`${file.path}:${line} imports ${name}, which package.json does not list for it`);
    }
  }
  for (const name of Object.keys(manifest.dependencies)) {
    if (used.has(name) || buildScripts.includes(`'${name}'`) || buildScripts.includes(`/${name}/`)) continue;
    breaches.push(`package.json: nothing imports ${name}; remove it from dependencies`);
  }
  return breaches;
}

/** `pkg/inner.js` → `pkg`; built-ins keep their name. */
function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}
