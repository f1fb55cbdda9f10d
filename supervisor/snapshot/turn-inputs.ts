// What one window of a turn is given: its model and who goes on in its place, its snapshot, and the secrets beside it.
import type { TurnCredentials, TurnSnapshot } from '../../shared/ipc/turn-snapshot.js';
import type { ModelCatalogue } from '../intelligence/model-catalogue.js';
import type { ModelMemory } from '../intelligence/model-memory.js';
import type { ResolvedModel } from '../intelligence/resolve-model.js';
import { buildSnapshot, type SnapshotParts } from './build-snapshot.js';

interface TurnAt {
  readonly turnId: string;
  readonly threadId: string;
}

/** What the time before the turn found out for it. */
interface Found {
  readonly model?: ResolvedModel;
  readonly knowledge?: string;
}

export interface TurnInputsParts
  extends Pick<
    SnapshotParts,
    'store' | 'config' | 'template' | 'security' | 'workspaceRoot' | 'budgetAdmission' | 'room'
  > {
  readonly catalogue: Pick<ModelCatalogue, 'turn' | 'named' | 'routes' | 'route'>;
  readonly memory: Pick<ModelMemory, 'arrange'>;
  /** Every known secret value, for the worker to mask. */
  readonly secrets: readonly string[];
  /** Each thread works in its own workspace; else all of them in `workspaceRoot`. */
  readonly ownWorkspaces: boolean;
}

export class TurnInputs {
  readonly #parts: TurnInputsParts;

  constructor(parts: TurnInputsParts) {
    this.#parts = parts;
  }

  freeze(
    turn: TurnAt,
    marker: string,
    found: Found,
  ): { readonly snapshot: TurnSnapshot; readonly credentials: TurnCredentials } {
    const { memory, secrets } = this.#parts;
    const { settings, fallbacks, credentials } = memory.arrange(this.#modelOf(turn, found));
    const snapshot = buildSnapshot(
      {
        ...this.#parts,
        workspaceRoot: this.#workspaceOf(turn.threadId),
        model: settings,
        fallbacks,
        knowledge: found.knowledge ?? '',
        marker,
      },
      turn,
    );
    return { snapshot, credentials: { ...credentials, mask: [...secrets] } };
  }

  /** As routed, as the turn asks for it, as an earlier window had it, or the usual one. */
  #modelOf(turn: TurnAt, found: Found): ResolvedModel {
    const { store, catalogue } = this.#parts;
    if (found.model !== undefined) return found.model;
    const row = store.turns.get(turn.turnId);
    const asked = row?.options.model;
    const named = asked === undefined ? undefined : catalogue.named(asked);
    if (named !== undefined && named.kind !== 'decision') return named;
    const routes = catalogue.routes.flatMap(({ name }) => catalogue.route(name) ?? []);
    return routes.find(({ settings }) => settings.model === row?.model) ?? catalogue.turn;
  }

  #workspaceOf(threadId: string): string {
    const { store, workspaceRoot, ownWorkspaces } = this.#parts;
    const thread = ownWorkspaces ? store.threads.get(threadId) : undefined;
    const workspace = thread === undefined ? undefined : store.workspaces.get(thread.workspace_id);
    return workspace?.root ?? workspaceRoot;
  }
}
