// When two results of the same call count as the same.
import { canonicalJson, type JsonValue } from '../shared/json.js';

/** What tells two results apart. How long a call took is no progress, unless what it started still runs. */
export function comparable(content: JsonValue): string {
  if (typeof content !== 'object' || content === null || Array.isArray(content) || content.running === true)
    return canonicalJson(content);
  const { duration_ms: _duration, ...rest } = content;
  return canonicalJson(rest);
}
