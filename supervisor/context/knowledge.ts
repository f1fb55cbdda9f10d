// Reference texts for a message: looked up before its turn, labelled as what they are, and left out when the search
// fails. They are data of others and must not pass for instructions.
import type { Config } from '../../config/schema.js';
import type { SearchHit, SearchOrder } from '../../shared/ipc/search.js';
import type { Store } from '../store/types.js';

export type Searched =
  | { readonly ok: true; readonly hits: readonly SearchHit[] }
  | { readonly ok: false; readonly message: string };

/** Never rejects. */
export type SearchTexts = (order: SearchOrder, signal: AbortSignal) => Promise<Searched>;

export interface KnowledgeParts {
  readonly config: Config['knowledge'];
  readonly store: Store;
  readonly search: SearchTexts;
  log(event: 'knowledge.auto_context' | 'knowledge.failed', fields: Record<string, unknown>): void;
}

/** What is worth searching for stands in the beginning of a message. */
const QUERY_CHARS = 4_000;

export class Knowledge {
  readonly #parts: KnowledgeParts;

  constructor(parts: KnowledgeParts) {
    this.#parts = parts;
  }

  /** The block for the turn, empty when there is nothing to add. Null, at once, when nothing is looked up. Never rejects. */
  before(turn: { readonly turnId: string }, signal: AbortSignal): Promise<string> | null {
    const { config, store } = this.#parts;
    const { auto_context } = config;
    const place = placeOf(config.search);
    if (auto_context.on === 'never' || place === null) return null;
    const text = store.inbox.ofTurn(turn.turnId)?.text ?? '';
    if (text.trim() === '') return null;
    const { top, bytes } = auto_context;
    const { time_ms } = config.search;
    return this.#look(turn.turnId, { query: text.slice(0, QUERY_CHARS), place, top, bytes, time_ms }, signal);
  }

  async #look(turnId: string, order: SearchOrder, signal: AbortSignal): Promise<string> {
    const { search, log } = this.#parts;
    const searched = await search(order, signal);
    if (!searched.ok) {
      if (!signal.aborted) log('knowledge.failed', { turn_id: turnId, message: searched.message });
      return '';
    }
    log('knowledge.auto_context', { turn_id: turnId, hits: searched.hits.length });
    return knowledgeBlock(searched.hits);
  }
}

function placeOf(search: Config['knowledge']['search']): SearchOrder['place'] | null {
  if (search.path !== null) return { kind: 'files', root: search.path };
  if (search.url === null) return null;
  const token = search.token === null ? {} : { token: search.token.reveal() };
  return { kind: 'server', url: search.url, ...token };
}

/** Each line of a text is quoted, so that nothing in it can pass for a heading of ours. */
function knowledgeBlock(hits: readonly SearchHit[]): string {
  return hits.map(({ source, text }) => `Source: ${source}\n${text.replace(/^/gm, '> ')}`).join('\n\n');
}
