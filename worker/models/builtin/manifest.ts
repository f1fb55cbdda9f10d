// What the manifest of a project says about it: name, version, purpose, what can be run. Read for its plain facts only,
// with patterns rather than parsers: a manifest that is odd or broken gives fewer facts, never a failure.
import { joined, oneLine } from './wording.js';

export interface ManifestFacts {
  /** `npm package`, `Rust crate`, … */
  readonly what: string;
  readonly name: string | null;
  readonly version: string | null;
  readonly description: string | null;
  /** Things one can start, as lines for a person. */
  readonly runs: readonly string[];
}

const MOST_NAMES = 12;

/** Names of the manifests that are read, the most telling first. All lower case. */
export const MANIFESTS = [
  'package.json',
  'cargo.toml',
  'pyproject.toml',
  'go.mod',
  'composer.json',
  'makefile',
  'dockerfile',
] as const;
type Manifest = (typeof MANIFESTS)[number];

const READERS: Readonly<Record<Manifest, (text: string) => ManifestFacts>> = {
  'package.json': (text) => ofJson(text, 'npm package', 'npm run'),
  'composer.json': (text) => ofJson(text, 'Composer package', 'composer run'),
  'cargo.toml': (text) => ofToml(text, 'Rust crate', 'package'),
  'pyproject.toml': (text) => ofToml(text, 'Python project', 'project', 'tool.poetry'),
  'go.mod': (text) => ({
    what: 'Go module',
    name: line(/^module\s+(\S+)/m.exec(text)?.[1]),
    version: null,
    description: null,
    runs: [],
  }),
  makefile: (text) => ({ ...NOTHING, what: 'Makefile', runs: makeTargets(text) }),
  dockerfile: (text) => ({
    ...NOTHING,
    what: 'Dockerfile',
    runs: [...text.matchAll(/^[ \t]*FROM[ \t]+(\S+)/gim)]
      .slice(-1)
      .map((match) => `image built on ${line(match[1])}`),
  }),
};

const NOTHING = { name: null, version: null, description: null, runs: [] };

export function isManifest(name: string): boolean {
  return (MANIFESTS as readonly string[]).includes(name.toLowerCase());
}

export function manifestFacts(name: string, text: string): ManifestFacts | null {
  const key = name.toLowerCase();
  return isManifest(key) ? READERS[key as Manifest](text) : null;
}

function ofJson(text: string, what: string, runner: string): ManifestFacts {
  let root: unknown;
  try {
    root = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    return { ...NOTHING, what };
  }
  const scripts = Object.keys(asRecord(field(root, 'scripts')));
  const bin = field(root, 'bin');
  const commands = typeof bin === 'string' ? [line(field(root, 'name')) ?? bin] : Object.keys(asRecord(bin));
  const main = line(field(root, 'main'));
  const runs: string[] = [];
  if (commands.length > 0) runs.push(`commands: ${names(commands)}`);
  if (main !== null) runs.push(`main module: ${main}`);
  if (scripts.length > 0) runs.push(`\`${runner}\`: ${names(scripts)}`);
  return {
    what,
    name: line(field(root, 'name')),
    version: line(field(root, 'version')),
    description: line(field(root, 'description')),
    runs,
  };
}

function ofToml(text: string, what: string, ...sections: string[]): ManifestFacts {
  const inside = (section: string): string => {
    const start = new RegExp(`^\\[${section.replace('.', '\\.')}\\][^\\n]*\\n`, 'm').exec(text);
    if (start === null) return '';
    const rest = text.slice(start.index + start[0].length);
    return rest.slice(0, /^[ \t]*\[/m.exec(rest)?.index ?? rest.length);
  };
  const value = (key: string): string | null => {
    for (const section of sections) {
      const match = new RegExp(`^${key}[ \\t]*=[ \\t]*["']+([^"'\\n]*)`, 'm').exec(inside(section));
      if (match !== null) return line(match[1]);
    }
    return null;
  };
  const scripts = [
    ...sections
      .map((section) => inside(`${section}.scripts`))
      .join('\n')
      .matchAll(/^["']?([\w.-]+)["']?\s*=/gm),
  ];
  const bins = [...text.matchAll(/^\[\[bin\]\][^[]*?^name\s*=\s*"([^"\n]+)"/gm)];
  const commands = [...scripts, ...bins].map((match) => match[1] ?? '');
  return {
    what,
    name: value('name'),
    version: value('version'),
    description: value('description'),
    runs: commands.length === 0 ? [] : [`commands: ${names(commands)}`],
  };
}

function makeTargets(text: string): string[] {
  const targets = [...text.matchAll(/^([A-Za-z0-9][\w./-]*)[ \t]*:(?![:=])/gm)].map(
    (match) => match[1] ?? '',
  );
  const distinct = [...new Set(targets)];
  return distinct.length === 0 ? [] : [`\`make\`: ${names(distinct)}`];
}

function names(all: readonly string[]): string {
  const shown = all.slice(0, MOST_NAMES).map((name) => oneLine(name, 60));
  const more = all.length - shown.length;
  return more > 0 ? `${shown.join(', ')} and ${more} more` : joined(shown);
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

function field(value: unknown, key: string): unknown {
  const record = asRecord(value);
  return Object.hasOwn(record, key) ? record[key] : undefined;
}

function line(value: unknown): string | null {
  return typeof value === 'string' && value.trim() !== '' ? oneLine(value.trim(), 240) : null;
}
