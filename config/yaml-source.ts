// A YAML text as a plain tree whose every key and value knows its line. Loads the YAML library, so it is itself loaded
// only when there is a file. Keys that stand twice are kept, for the reader to name them. Never quotes the text in a problem: it may hold a credential.
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { Problem } from './problem.js';
import { type Position, plainValue, type SourceEntry, type SourceNode } from './source-tree.js';

/** A file of ours has a few hundred nodes; aliases of aliases can make millions out of a page of text. */
const NODES_MAX = 20_000;

class TooManyNodes extends Error {}

export interface YamlSource {
  /** Null for a file without content, and when the text cannot be read at all. */
  readonly root: SourceNode | null;
  readonly problems: readonly Problem[];
}

export function readYaml(text: string, file: string): YamlSource {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problems: Problem[] = [...document.errors, ...document.warnings].map((error) => ({
    file,
    ...at(error.pos[0]),
    path: '',
    message: plain(error.message),
  }));
  if (document.errors.length > 0 || document.contents === null) return { root: null, problems };
  try {
    return { root: new TreeReader(document, at).read(document.contents), problems };
  } catch (error) {
    if (!(error instanceof TooManyNodes)) throw error;
    return { root: null, problems: [...problems, { file, path: '', message: 'holds too many values' }] };
  }
}

/** The library quotes the offending text in some messages; what it quotes may be a credential. */
function plain(message: string): string {
  return `not valid YAML: ${message.split('\n')[0] ?? ''}`
    .replaceAll(/"[^"]*"|'[^']*'|`[^`]*`/g, '…')
    .slice(0, 200);
}

class TreeReader {
  readonly #document: Document.Parsed;
  readonly #at: (offset: number) => Position;
  #count = 0;

  constructor(document: Document.Parsed, at: (offset: number) => Position) {
    this.#document = document;
    this.#at = at;
  }

  read(node: Node | null): SourceNode {
    this.#count += 1;
    if (this.#count > NODES_MAX) throw new TooManyNodes();
    const place = this.#at(node?.range?.[0] ?? 0);
    if (isAlias(node)) return { ...this.read(node.resolve(this.#document) ?? null), ...place };
    if (isMap<Node, Node | null>(node)) {
      return { ...place, kind: 'map', entries: node.items.map((pair) => this.#entry(pair.key, pair.value)) };
    }
    if (isSeq<Node | null>(node)) {
      return { ...place, kind: 'value', value: node.items.map((item) => plainValue(this.read(item))) };
    }
    return { ...place, kind: 'value', value: isScalar(node) ? node.value : null };
  }

  #entry(key: Node, value: Node | null): SourceEntry {
    const name = isScalar(key) ? String(key.value) : '?';
    return { key: name, ...this.#at(key.range?.[0] ?? 0), node: this.read(value) };
  }
}
