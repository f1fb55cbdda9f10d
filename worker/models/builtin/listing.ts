// Asks for and reads the listing of one folder.
import type { JsonValue } from '../../../shared/json.js';
import { flagIn, listIn, numberIn, textIn } from './content.js';
import type { Entry } from './folder-facts.js';
import type { Ask } from './plan.js';

export interface Listing {
  /** Names relative to the folder. */
  readonly entries: readonly Entry[];
  /** There is more in the folder than the listing shows. */
  readonly cut: boolean;
}

export function listDir(path: string): Ask {
  return { tool: 'list_dir', arguments: { path } };
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
  return { entries, cut: flagIn(content, 'truncated') };
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
