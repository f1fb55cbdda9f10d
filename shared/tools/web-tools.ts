// Tools that reach the network. What they may reach is judged again in the worker, at each connect.
import * as v from 'valibot';
import type { ToolSpec } from './tool-spec.js';

export const webFetchParams = v.strictObject({
  url: v.pipe(v.string(), v.minLength(1), v.maxLength(8192), v.description('http or https')),
  method: v.optional(
    v.pipe(v.picklist(['GET', 'HEAD']), v.description('HEAD: only status and headers')),
    'GET',
  ),
  max_bytes: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.description('stops reading the body here; default and cap by configuration'),
    ),
  ),
  raw: v.optional(v.pipe(v.boolean(), v.description('HTML as it is, not reduced to text')), false),
});

export type WebFetchParams = v.InferOutput<typeof webFetchParams>;

export const WEB_TOOLS: readonly ToolSpec[] = [
  {
    name: 'web_fetch',
    description:
      'Fetches a URL over http or https, without cookies or credentials. Follows up to 5 redirects. Returns status, the ' +
      'final url, content_type, bytes and text: HTML reduced to readable text with its links, other text and JSON as ' +
      'they are; what is too long keeps its beginning and end, and the whole becomes an artifact, as binary content does. ' +
      'Private, local and reserved addresses are refused unless the configuration allows them.',
    params: webFetchParams,
    action: 'network',
    runs: 'worker',
    readOnly: true,
  },
];
