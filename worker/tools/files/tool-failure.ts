// A failure on its way to the model: one sentence that says what is wrong and what to do. Thrown inside the file and web
// tools only; `checked` turns it into a result where the tool ends, so that it never leaves an executor.
import type { JsonObject } from '../../../shared/json.js';

export class ToolFailure extends Error {
  readonly details: JsonObject;

  constructor(message: string, details: JsonObject = {}) {
    super(message);
    this.details = details;
  }
}

/** Throws when the turn has ended; long work asks between its steps. */
export function mustGoOn(signal: AbortSignal): void {
  if (signal.aborted) throw new ToolFailure('Interrupted: the turn is ending.');
}
