// Picks the files that say most about a folder: its README, licence, manifests, tests, builds, ways in.
import type { Entry } from './folder-facts.js';
import { isManifest, MANIFESTS } from './manifest.js';

export interface Notable {
  /** Path of the README to quote; null when there is none. */
  readonly readme: string | null;
  /** Manifests at the top, the most telling first. */
  readonly manifests: readonly string[];
  /** `licence`, `tests`, … with the paths that show it; in a fixed order, empty ones left out. */
  readonly marks: readonly { readonly what: string; readonly paths: readonly string[] }[];
}

const MOST_PATHS = 4;

/** Tried on paths of at most two names, in lower case; those of folders end with `/`. */
const MARKS: readonly { readonly what: string; readonly at: RegExp }[] = [
  { what: 'licence', at: /^(?:licen[cs]e|copying|unlicense)(?:[-.][\w.-]+)?$/ },
  { what: 'changes', at: /^(?:change(?:log|s)|history|news|release[-_ ]?notes)(?:\.\w+)?$/ },
  {
    what: 'contributing',
    at: /^(?:contributing|agents|claude|code_of_conduct|security)(?:\.\w+)$/,
  },
  {
    what: 'tests',
    at: /^(?:[^/]+\/)?(?:tests?|specs?|__tests__|e2e)\/$|^(?:test_[^/]+\.py|[^/]+_test\.go|[^/]+\.(?:test|spec)\.\w+)$/,
  },
  { what: 'documentation', at: /^(?:docs?|documentation|man|manual)\/$/ },
  { what: 'examples', at: /^(?:examples?|samples?|demo)\/$/ },
  {
    what: 'build',
    at: /^(?:makefile|gnumakefile|justfile|cmakelists\.txt|meson\.build|build\.gradle(?:\.kts)?|pom\.xml|setup\.py|setup\.cfg|flake\.nix|build\.zig|rakefile|gemfile|requirements\.txt|pipfile|mix\.exs|pubspec\.yaml|[^/]+\.(?:sln|csproj|cabal|gemspec))$/,
  },
  { what: 'containers', at: /^(?:dockerfile|containerfile|(?:docker-)?compose(?:\.[\w-]+)?\.ya?ml)$/ },
  {
    what: 'CI',
    at: /^(?:\.github\/workflows\/|\.gitlab-ci\.yml|\.circleci\/|\.travis\.yml|jenkinsfile|azure-pipelines\.yml|\.ci\/)$/,
  },
  {
    what: 'ways in',
    at: /^(?:(?:src|app|lib|cmd|bin)\/)?(?:main|index|app|server|cli|manage|__main__)\.(?:ts|js|mjs|cjs|tsx|jsx|py|go|rs|c|cc|cpp|java|kt|swift|rb|php|html|lua|zig|hs|dart)$/,
  },
];

const README = /^readme(?:[-.][\w.-]+)?$/;

export function notableOf(entries: readonly Entry[]): Notable {
  const near = entries
    .filter((entry) => entry.path.split('/', 3).length < 3)
    .map((entry) => ({ entry, lower: `${entry.path.toLowerCase()}${entry.kind === 'folder' ? '/' : ''}` }))
    .sort((left, right) => depth(left.lower) - depth(right.lower) || (left.lower < right.lower ? -1 : 1));
  const files = near.filter(({ entry }) => entry.kind === 'file' || entry.kind === 'link');
  const readmes = files.filter(({ lower }) => README.test(lower));
  const manifests = files
    .filter(({ lower }) => isManifest(lower))
    .sort((left, right) => rank(left.lower) - rank(right.lower));
  const marks = MARKS.map(({ what, at }) => ({
    what,
    paths: near
      .filter(({ lower }) => at.test(lower))
      .slice(0, MOST_PATHS)
      .map(({ entry }) => (entry.kind === 'folder' ? `${entry.path}/` : entry.path)),
  })).filter((mark) => mark.paths.length > 0);
  return {
    readme:
      (
        readmes.find(({ lower }) => /^readme(?:\.(?:md|markdown|rst|txt|adoc|org))?$/.test(lower)) ??
        readmes[0]
      )?.entry.path ?? null,
    manifests: manifests.map(({ entry }) => entry.path),
    marks,
  };
}

function depth(path: string): number {
  return path.replace(/\/$/, '').split('/').length;
}

function rank(lower: string): number {
  return (MANIFESTS as readonly string[]).indexOf(lower);
}
