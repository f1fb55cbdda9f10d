// Walks a folder with list_dir, level by level, within bounds: many listings per round, few rounds. What was passed
// over, could not be read, or did not fit is part of the result, so that no answer claims more than was seen.
import type { Entry } from './folder-facts.js';
import { listDir, listingOf } from './listing.js';
import { isManifest } from './manifest.js';
import type { Ask, Given } from './plan.js';

export interface Survey {
  readonly entries: readonly Entry[];
  /** Folders that hold what tools made or fetched. */
  readonly passedOver: readonly string[];
  readonly unreadable: readonly { readonly path: string; readonly failure: string }[];
  /** Folders that were not reached within the bounds. */
  readonly unvisited: number;
  /** Folders whose listing was cut, and how many of their entries it left out; null when nobody counted. */
  readonly cut: readonly { readonly path: string; readonly omitted: number | null }[];
  /** Every entry was seen, those of folders that were passed over excepted. */
  readonly complete: boolean;
}

const MOST_ROUNDS = 8;
const CALLS_PER_ROUND = 16;
/** Every round reads all listings again, and a turn has two million tokens: more entries than this would use them up. */
const MOST_ENTRIES = 12_000;

/** Never a person's own work. */
const FETCHED =
  /^(?:node_modules|bower_components|\.git|\.hg|\.svn|\.venv|venv|__pycache__|\.tox|\.mypy_cache|\.pytest_cache|\.gradle|\.next|\.nuxt|\.cache|\.terraform|\.tap|\.nyc_output|\.turbo|\.parcel-cache|\.yarn)$/;
/** Made by a build, where a manifest beside it says that there is one. */
const BUILT = /^(?:target|dist|build|out|coverage|vendor)$/;

/** `root` is as the person named it; paths of entries are relative to it. The first listing was made by the caller. */
export function* survey(root: string, first: Given): Generator<readonly Ask[], Survey, readonly Given[]> {
  const state = new Walk();
  state.take('', first);
  for (
    let round = 1;
    round < MOST_ROUNDS && state.queue.length > 0 && state.entries.length < MOST_ENTRIES;
    round += 1
  ) {
    const folders = state.queue.splice(0, CALLS_PER_ROUND);
    const given = yield folders.map((folder) => listDir(joinPath(root, folder)));
    for (const [index, folder] of folders.entries())
      state.take(folder, given[index] ?? { content: null, failure: 'no result' });
  }
  return state.result();
}

class Walk {
  readonly entries: Entry[] = [];
  readonly queue: string[] = [];
  private readonly passedOver: string[] = [];
  private readonly unreadable: { path: string; failure: string }[] = [];
  private readonly cut: { path: string; omitted: number | null }[] = [];

  take(folder: string, given: Given): void {
    if (given.failure !== null) {
      this.unreadable.push({ path: folder, failure: given.failure });
      return;
    }
    const listing = listingOf(given.content);
    if (listing.omitted !== 0) this.cut.push({ path: folder, omitted: listing.omitted });
    const builds = listing.entries.some((entry) => isManifest(entry.path));
    for (const entry of listing.entries) {
      const path = folder === '' ? entry.path : `${folder}/${entry.path}`;
      this.entries.push({ ...entry, path });
      if (entry.kind !== 'folder') continue;
      if (FETCHED.test(entry.path) || (builds && BUILT.test(entry.path))) this.passedOver.push(path);
      else this.queue.push(path);
    }
  }

  result(): Survey {
    return {
      entries: this.entries,
      passedOver: this.passedOver,
      unreadable: this.unreadable,
      unvisited: this.queue.length,
      cut: this.cut,
      complete: this.queue.length === 0 && this.unreadable.length === 0 && this.cut.length === 0,
    };
  }
}

/** A path below a root as the tools take it: relative to the workspace. */
export function joinPath(root: string, path: string): string {
  if (path === '') return root;
  if (root === '.' || root === '') return path;
  return root.endsWith('/') ? `${root}${path}` : `${root}/${path}`;
}
