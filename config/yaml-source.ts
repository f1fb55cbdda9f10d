// A YAML text as a plain tree whose every key and value knows its line. Loads the YAML library, so it is itself loaded
// only when there is a file. Keys that stand twice are kept, for the reader to name them. Never quotes the text in a problem: it may hold a credential.
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';
import type { Problem } from './problem.js';
import { type Position, plainValue, type SourceEntry, type SourceNode } from './source-tree.js';

/** In our words, because those of the library repeat the text, and what they repeat may be a credential. */
const FAULTS: Readonly<Record<string, string>> = {
  // Aliases of aliases make millions of values out of a page of text, and no file of ours needs one.
  BAD_ALIAS: 'aliases are not supported; write the value out',
  BAD_DQ_ESCAPE: 'no such escape in double quotes',
  BAD_INDENT: 'the indentation does not fit',
  BAD_SCALAR_START: 'a value cannot begin so; put it in quotes',
  BLOCK_AS_IMPLICIT_KEY: 'a mapping cannot begin here; put the value in quotes, or on lines of its own',
  MISSING_CHAR: 'something is not closed, or a colon or comma is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must stand on one line; is a colon missing?',
  MULTIPLE_DOCS: 'there may be one document only',
  TAB_AS_INDENT: 'indent with spaces, not with tabs',
  TAG_RESOLVE_FAILED: 'tags are not supported; put the value in quotes',
  UNEXPECTED_TOKEN: 'this was not expected here',
};

export interface YamlSource {
  /** Null for a file without content, and when the text cannot be read at all. */
  readonly root: SourceNode | null;
  readonly problems: readonly Problem[];
}

export function readYaml(text: string, file: string): YamlSource {
  const lines = new LineCounter();
  const at = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const problems: Problem[] = [];
  const tell = (offset: number, code: string): void => {
    const fault = FAULTS[code] ?? 'the text cannot be understood here';
    const problem = { file, ...at(offset), path: '', message: `is not valid here: ${fault}` };
    // One mistake often shows at several places of its line.
    const last = problems.at(-1);
    if (last?.line !== problem.line || last.message !== problem.message) problems.push(problem);
  };
  try {
    const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
    for (const error of [...document.errors, ...document.warnings]) tell(error.pos[0], error.code);
    if (document.errors.length > 0 || document.contents === null) return { root: null, problems };
    return { root: new TreeReader(at, tell).read(document.contents), problems };
  } catch (error) {
    // The library reads nested values by recursion, so a text of brackets alone can exhaust the stack.
    if (!(error instanceof RangeError)) throw error;
    return { root: null, problems: [{ file, path: '', message: 'nests its values too deeply' }] };
  }
}

class TreeReader {
  readonly #at: (offset: number) => Position;
  readonly #tell: (offset: number, code: string) => void;

  constructor(at: (offset: number) => Position, tell: (offset: number, code: string) => void) {
    this.#at = at;
    this.#tell = tell;
  }

  read(node: Node | null): SourceNode {
    const offset = node?.range?.[0] ?? 0;
    const place = this.#at(offset);
    if (isAlias(node)) this.#tell(offset, 'BAD_ALIAS');
    if (isMap<Node, Node | null>(node)) {
      return { ...place, kind: 'map', entries: node.items.map((pair) => this.#entry(pair.key, pair.value)) };
    }
    if (isSeq<Node | null>(node)) {
      const items = node.items.map((item) => this.read(item));
      return { ...place, kind: 'list', items, value: items.map(plainValue) };
    }
    return { ...place, kind: 'value', value: isScalar(node) ? node.value : null };
  }

  #entry(key: Node, value: Node | null): SourceEntry {
    const name = isScalar(key) ? String(key.value) : '?';
    return { key: name, ...this.#at(key.range?.[0] ?? 0), node: this.read(value) };
  }
}
