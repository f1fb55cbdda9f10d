// Checks what came over the wire against the frames of one direction. Each side names its own schema, so that neither
// builds the other's at start.
import * as v from 'valibot';

export type Parsed<T> =
  | { readonly ok: true; readonly frame: T }
  | { readonly ok: false; readonly message: string };

/** Names the place that is wrong and what was expected there, never what was found: that may be a secret. */
export function parseFrame<T>(schema: v.GenericSchema<unknown, T>, value: unknown): Parsed<T> {
  const result = v.safeParse(schema, value, { abortEarly: true });
  if (result.success) return { ok: true, frame: result.output };
  const [issue] = result.issues;
  const path = v.getDotPath(issue) ?? 'the frame';
  return { ok: false, message: `A frame does not fit: ${path} should be ${issue.expected ?? issue.type}` };
}
