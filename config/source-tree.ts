// A configuration file as a plain tree whose every key and value knows its line. Knows nothing of YAML.

export interface Position {
  /** 1-based. */
  readonly line: number;
  readonly column: number;
}

export interface SourceEntry extends Position {
  readonly key: string;
  readonly node: SourceNode;
}

export type SourceNode = Position &
  (
    | { readonly kind: 'map'; readonly entries: readonly SourceEntry[] }
    /** `value` is the whole list without positions. */
    | { readonly kind: 'list'; readonly items: readonly SourceNode[]; readonly value: readonly unknown[] }
    | { readonly kind: 'value'; readonly value: unknown }
  );

/** The node without its positions. */
export function plainValue(node: SourceNode): unknown {
  if (node.kind !== 'map') return node.value;
  return Object.fromEntries(node.entries.map((entry) => [entry.key, plainValue(entry.node)]));
}
