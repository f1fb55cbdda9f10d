// Every configuration key must be read by somebody: a key that changes nothing is a lie to the operator.
import { CONFIG, leavesOf } from '../../config/schema.js';
import { type Named, type SourceFile, type SyntaxNode, walk } from './source.js';

/** Pairs such as `run.deadline_ms`: the group and the field, as the code reads them. */
export function configFields(): string[] {
  return leavesOf(CONFIG).map(({ path, leaf }) => `${path}${leaf.unit}`.split('.').slice(-2).join('.'));
}

/** The pairs that a file reads, by member access, by another name for the group, or by taking the group apart. */
function pairsOf(file: SourceFile): string[] {
  const pairs: string[] = [];
  const aliases = new Map<string, string>();
  walk(file.program, (node) => {
    if (node.type === 'MemberExpression') {
      const object = lastName(node.object as SyntaxNode);
      const property = (node.property as Named)?.name ?? '';
      pairs.push(`${object}.${property}`, `${aliases.get(object) ?? object}.${property}`);
    } else if (node.type === 'VariableDeclarator') {
      const name = (node.id as Named)?.name;
      if (name !== undefined) aliases.set(name, lastName(node.init as SyntaxNode | null));
      pairs.push(...takenApart(node.id as SyntaxNode, lastName(node.init as SyntaxNode | null), aliases));
    } else if (/Function/.test(node.type)) {
      for (const parameter of node.params as SyntaxNode[]) pairs.push(...takenApart(parameter, '', aliases));
    }
  });
  return pairs;
}

function lastName(node: SyntaxNode | null): string {
  if (node === null) return '';
  const named = node.type === 'MemberExpression' ? (node.property as Named) : (node as Named);
  return named?.name ?? '';
}

function takenApart(pattern: SyntaxNode, from: string, aliases: Map<string, string>): string[] {
  if (pattern.type !== 'ObjectPattern') return [];
  return (pattern.properties as SyntaxNode[]).flatMap((property) => {
    const name = (property.key as Named)?.name ?? '';
    const inner = property.value as (SyntaxNode & { readonly name?: string }) | null | undefined;
    if (inner?.name !== undefined && inner.name !== name) aliases.set(inner.name, name);
    return [`${from}.${name}`, ...(!inner ? [] : takenApart(inner, name, aliases))];
  });
}

export function unreadKeys(fields: readonly string[], files: readonly SourceFile[]): string[] {
  const read = new Set(files.flatMap(pairsOf));
  return fields
    .filter((field) => !read.has(field))
    .map((field) => `config/schema.ts: nobody reads ${field}; use it (written so), or remove the key`);
}
