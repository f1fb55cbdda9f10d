// Values of the search for reference texts that cannot be meant together. Pure.
import type { Config } from './schema.js';

export function knowledgeContradictions({ knowledge: { auto_context, search } }: Config): [string, string][] {
  const found: [string, string][] = [];
  if (search.path !== null && search.url !== null)
    found.push(['knowledge.search', 'has both a path and a url: keep the one that is meant']);
  if (search.token !== null && search.url === null)
    found.push(['knowledge.search.token', 'belongs to knowledge.search.url']);
  if (auto_context.on === 'turn' && search.path === null && search.url === null)
    found.push(['knowledge.auto_context.on', 'needs knowledge.search: give it a path or a url']);
  return found;
}
