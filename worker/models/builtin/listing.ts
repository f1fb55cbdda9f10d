// Asks for and reads the listing of one folder.
import type { JsonValue } from '../../../shared/json.js';
import { flagIn, listIn, numberIn, textIn } from './content.js';
import type { Entry } from './folder-facts.js';
import type { Ask } from './plan.js';

export interface Listing {
  /** Names relative to the folder. */
  readonly entries: readonly Entry[];
  /** Entries of the folder that the listing does not show; null when there are some and nobody counted them. */
  readonly omitted: number | null;
}

/** More would not fit into one result of the tool, whose own bound on bytes mostly cuts earlier. */
const MOST_ENTRIES = 1_000;

export function listDir(path: string): Ask {
  return { tool: 'list_dir', arguments: { path, limit: MOST_ENTRIES } };
}

export function listingOf(content: JsonValue): Listing {
  const entries: Entry[] = [];
  for (const item of listIn(content, 'entries')) {
    const name = textIn(item, 'path') ?? textIn(item, 'name');
    if (name === null) continue;
    entries.push({
      path: name.replace(/\/+$/, ''),
      kind: kindOf(textIn(item, 'kind') ?? textIn(item, 'type')),
      bytes: numberIn(item, 'bytes') ?? numberIn(item, 'size'),
    });
  }
  return { entries, omitted: numberIn(content, 'omitted') ?? (flagIn(content, 'truncated') ? null : 0) };
}

function kindOf(kind: string | null): Entry['kind'] {
  switch (kind) {
    case 'file':
      return 'file';
    case 'dir':
    case 'directory':
    case 'folder':
      return 'folder';
    case 'link':
    case 'symlink':
      return 'link';
    default:
      return 'other';
  }
}
