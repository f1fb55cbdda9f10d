// A frame as a request, or why it is none. Nothing of a frame is looked at before its size and depth are known.
import * as v from 'valibot';
import type { Failure } from '../../shared/errors.js';
import { REQUEST_ID_LENGTH, type Request, request } from '../../shared/protocol/envelope.js';

export type ParsedFrame =
  | { readonly ok: true; readonly request: Request }
  /** `id` is that of the request where it could be read. */
  | { readonly ok: false; readonly id: string | null; readonly failure: Failure };

const DEPTH_MAX = 64;

export function parseRequest(text: string): ParsedFrame {
  if (depthOf(text) > DEPTH_MAX)
    return refuse(null, 'invalid_request', `the message is nested deeper than ${DEPTH_MAX} levels`);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return refuse(null, 'parse_error', 'the message is no JSON');
  }
  if (Array.isArray(value)) return refuse(null, 'invalid_request', 'batches are not supported');
  const parsed = v.safeParse(request, value);
  if (parsed.success) return { ok: true, request: parsed.output };
  const [issue] = parsed.issues;
  const path = v.getDotPath(issue);
  const where = path === null ? '' : `${path}: `;
  return refuse(idOf(value), 'invalid_request', `the message is no request: ${where}${issue.message}`);
}

function refuse(id: string | null, code: Failure['code'], message: string): ParsedFrame {
  return { ok: false, id, failure: { code, message } };
}

function idOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('id' in value)) return null;
  const { id } = value;
  return typeof id === 'string' && [...id].length === REQUEST_ID_LENGTH ? id : null;
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPENS = new Set([0x5b, 0x7b]);
const CLOSES = new Set([0x5d, 0x7d]);

/** Deepest nesting of brackets outside of strings; stops counting where it is too much. */
function depthOf(text: string): number {
  if (text.length <= DEPTH_MAX) return 0;
  let depth = 0;
  let deepest = 0;
  let quoted = false;
  for (let index = 0; index < text.length && deepest <= DEPTH_MAX; index += 1) {
    const code = text.charCodeAt(index);
    if (quoted) {
      if (code === BACKSLASH) index += 1;
      else if (code === QUOTE) quoted = false;
    } else if (code === QUOTE) quoted = true;
    else if (OPENS.has(code)) {
      depth += 1;
      deepest = Math.max(deepest, depth);
    } else if (CLOSES.has(code)) depth -= 1;
  }
  return deepest;
}
