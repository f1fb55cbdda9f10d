// Artifacts: content too large or too binary for a transcript, kept with its thread. Whole outputs of tools that were
// cut in the transcript are artifacts too.
import * as v from 'valibot';
import type { ToolSpec } from './tool-spec.js';

const LENGTH_DEFAULT = 16 * 1024;
const LENGTH_MAX = 64 * 1024;

export const artifactCreateParams = v.strictObject({
  name: v.pipe(
    v.string(),
    v.regex(/^[^\u0000-\u001f\u007f]{1,200}$/, 'Expected a name of 1 to 200 characters'),
  ),
  content: v.pipe(v.string(), v.maxLength(4 * 1024 * 1024)),
  encoding: v.optional(
    v.pipe(v.picklist(['utf8', 'base64']), v.description('how content is written; base64 for binary')),
    'utf8',
  ),
  mime: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^[\w.+-]+\/[\w.+-]+(; ?[\w.+=-]+)*$/, 'Expected a media type'),
      v.maxLength(200),
    ),
  ),
});

export const artifactGetParams = v.strictObject({
  id: v.pipe(v.string(), v.regex(/^[A-Za-z0-9_-]{1,100}$/, 'Expected an artifact id')),
  offset: v.optional(v.pipe(v.number(), v.integer(), v.minValue(0), v.description('first byte to read')), 0),
  length: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(LENGTH_MAX), v.description('bytes to read')),
    LENGTH_DEFAULT,
  ),
});

export const artifactListParams = v.strictObject({
  prefix: v.optional(v.pipe(v.string(), v.maxLength(200)), ''),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000)), 100),
});

export const ARTIFACT_TOOLS: readonly ToolSpec[] = [
  {
    name: 'artifact.create',
    description:
      'Keeps content as an artifact of this conversation: text, or binary as base64. ' +
      'Returns its id, size in bytes and sha256.',
    params: artifactCreateParams,
    action: 'state',
    runs: 'supervisor',
    readOnly: false,
  },
  {
    name: 'artifact.get',
    description:
      `Reads a part of an artifact: length bytes (default ${LENGTH_DEFAULT}, at most ${LENGTH_MAX}) from offset. ` +
      'Text comes as text, cut between characters, binary as base64 with its media type. Read on at next_offset ' +
      'until it is null. Use it to see the whole of an output that was cut.',
    params: artifactGetParams,
    action: 'state',
    runs: 'supervisor',
    readOnly: true,
  },
  {
    name: 'artifact.list',
    description:
      'Lists the artifacts of this conversation, oldest first, those whose name begins with prefix where one is given.',
    params: artifactListParams,
    action: 'state',
    runs: 'supervisor',
    readOnly: true,
  },
];
