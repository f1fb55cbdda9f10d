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
    | { readonly kind: 'value'; readonly value: unknown }
  );

/** The node without its positions. */
export function plainValue(node: SourceNode): unknown {
  if (node.kind === 'value') return node.value;
  return Object.fromEntries(node.entries.map((entry) => [entry.key, plainValue(entry.node)]));
}
