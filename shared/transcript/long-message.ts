// A message that is too long to be shown whole is kept as an artifact too, so that a model can read it piece by piece.

/** Longer ones are kept that way once they do not fit. */
export const LONG_MESSAGE_CHARS = 16_384;

/** Name of the artifact that holds the message of a turn. */
export function messageArtifactName(turnId: string): string {
  return `message of ${turnId}`;
}
