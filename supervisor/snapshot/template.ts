// The template language of system prompts: {{name}}, {{#if name}}…{{/if}}, {{#each name}}…{{.field}}…{{/each}}.
// No expressions, no escapes: a template is the operator's text, and what it prints is data.

export type TemplateValue = string | boolean | readonly Readonly<Record<string, string>>[];
export type TemplateData = Readonly<Record<string, TemplateValue>>;

type Node =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'value'; readonly name: string }
  | { readonly kind: 'if' | 'each'; readonly name: string; readonly body: readonly Node[] };

export type Template = readonly Node[];

export type Parsed =
  | { readonly ok: true; readonly template: Template }
  | { readonly ok: false; readonly message: string };

const TAG = /\{\{\s*(?:(#if|#each)\s+([a-z_]+)|(\/if|\/each)|(\.?[a-z_]+))\s*\}\}\n?/g;

/** Parses, or says what is wrong and on which line. `names` are the values that exist. */
export function parseTemplate(source: string, names: readonly string[]): Parsed {
  const stack: { kind: 'root' | 'if' | 'each'; name: string; body: Node[]; line: number }[] = [
    { kind: 'root', name: '', body: [], line: 1 },
  ];
  let at = 0;
  for (const match of source.matchAll(TAG)) {
    const line = source.slice(0, match.index).split('\n').length;
    const top = stack.at(-1);
    if (top === undefined) break;
    if (match.index > at) top.body.push({ kind: 'text', text: source.slice(at, match.index) });
    at = match.index + match[0].length;
    const [, open, openName, close, value] = match;
    if (open !== undefined && openName !== undefined) {
      if (!names.includes(openName)) return unknownName(openName, line, names);
      stack.push({ kind: open === '#if' ? 'if' : 'each', name: openName, body: [], line });
    } else if (close !== undefined) {
      if (top.kind !== close.slice(1))
        return { ok: false, message: `line ${line}: {{${close}}} closes nothing` };
      stack.pop();
      stack.at(-1)?.body.push({ kind: top.kind as 'if' | 'each', name: top.name, body: top.body });
    } else if (value !== undefined) {
      if (!value.startsWith('.') && !names.includes(value)) return unknownName(value, line, names);
      // A line break after a value belongs to the text; only the block tags swallow theirs.
      if (match[0].endsWith('\n')) at -= 1;
      top.body.push({ kind: 'value', name: value });
    }
  }
  const last = stack.at(-1);
  if (last === undefined || last.kind !== 'root')
    return {
      ok: false,
      message: `line ${last?.line ?? 1}: {{#${last?.kind} ${last?.name}}} is never closed`,
    };
  if (at < source.length) last.body.push({ kind: 'text', text: source.slice(at) });
  return { ok: true, template: last.body };
}

function unknownName(name: string, line: number, names: readonly string[]): Parsed {
  return { ok: false, message: `line ${line}: there is no {{${name}}}; there are ${names.join(', ')}` };
}

/** Whether the template has a place for this value. */
export function usesName(template: Template, name: string): boolean {
  return template.some(
    (node) =>
      node.kind !== 'text' && (node.name === name || (node.kind !== 'value' && usesName(node.body, name))),
  );
}

export function renderTemplate(template: Template, data: TemplateData): string {
  return renderNodes(template, data, {})
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

function renderNodes(
  nodes: readonly Node[],
  data: TemplateData,
  item: Readonly<Record<string, string>>,
): string {
  return nodes.map((node) => renderNode(node, data, item)).join('');
}

function renderNode(node: Node, data: TemplateData, item: Readonly<Record<string, string>>): string {
  if (node.kind === 'text') return node.text;
  if (node.kind === 'value') {
    if (node.name.startsWith('.')) return item[node.name.slice(1)] ?? '';
    const value = data[node.name];
    return typeof value === 'string' ? value : '';
  }
  const value = data[node.name];
  if (node.kind === 'each') {
    const items = typeof value === 'object' ? value : [];
    return items.map((entry) => renderNodes(node.body, data, entry)).join('');
  }
  const present = typeof value === 'object' ? value.length > 0 : Boolean(value);
  return present ? renderNodes(node.body, data, item) : '';
}
