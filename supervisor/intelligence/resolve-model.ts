// What a resolved model is: how it is reached, with which credentials, and who goes on in its place.
import type { ModelCredentials, ModelSettings } from '../../shared/ipc/turn-snapshot.js';

/** How one model is reached. The lists of settings and credentials of a turn are made of these. */
export interface ReachableModel {
  readonly settings: ModelSettings;
  readonly credentials: ModelCredentials;
}

/** A model that talks: for turns, and for questions beside them. */
export interface ResolvedModel extends ReachableModel {
  readonly kind: 'chat' | 'reasoning';
  /** As it was declared, else as its server knows it. */
  readonly name: string;
  /** Who goes on in its place, in this order, when it cannot be reached. */
  readonly fallbacks: readonly ReachableModel[];
  /** Tokens that it reads at once. */
  readonly window: number;
  /** One line for the person when something was chosen for them. */
  readonly notice: string | null;
}

/** A model that only decides. */
export interface DecisionModel extends ReachableModel {
  readonly kind: 'decision';
  readonly name: string;
  readonly url: string;
  readonly fallbacks: readonly never[];
  readonly window: number;
  readonly notice: null;
}

/** Every secret among the credentials, to be masked wherever text leaves. */
export function secretsOf({ token, aws }: ModelCredentials): string[] {
  const keys = aws === undefined ? [] : [aws.access_key_id, aws.secret_access_key, aws.session_token];
  return [token, ...keys].filter((value) => value !== undefined);
}
