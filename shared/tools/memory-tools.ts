// Memory: named values that outlive conversations, shared by all threads of a supervisor.
import * as v from 'valibot';
import type { ToolSpec } from './tool-spec.js';

export const MEMORY_VALUE_BYTES_MAX = 64 * 1024;

const key = v.pipe(
  v.string(),
  v.regex(
    /^[^_\s\u0000-\u001f\u007f][^\s\u0000-\u001f\u007f]{0,255}$/,
    'Expected a key of 1 to 256 characters without whitespace, not beginning with _',
  ),
);

export const memoryKeyParams = v.strictObject({ key });

export const memorySetParams = v.strictObject({
  key,
  value: v.pipe(v.unknown(), v.description('any JSON value, up to 64 KB as JSON text')),
  ttl_seconds: v.optional(
    v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(315_360_000),
      v.description('forget the value after this time; absent: keep it'),
    ),
  ),
});

export const memoryListParams = v.strictObject({
  prefix: v.optional(v.pipe(v.string(), v.maxLength(256)), ''),
  limit: v.optional(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(1000)), 100),
});

export const MEMORY_TOOLS: readonly ToolSpec[] = [
  {
    name: 'memory.get',
    description: 'Reads a remembered value. Returns found, and the value with the time of its last change.',
    params: memoryKeyParams,
    action: 'state',
    runs: 'supervisor',
    readOnly: true,
  },
  {
    name: 'memory.set',
    description:
      'Remembers a JSON value under a key, across conversations; replaces an earlier one. For facts that later ' +
      'conversations need, not for large content (use artifact.create for that).',
    params: memorySetParams,
    action: 'state',
    runs: 'supervisor',
    readOnly: false,
  },
  {
    name: 'memory.list',
    description:
      'Lists the keys of remembered values in order, those that begin with prefix where one is given.',
    params: memoryListParams,
    action: 'state',
    runs: 'supervisor',
    readOnly: true,
  },
  {
    name: 'memory.delete',
    description: 'Forgets a value. Returns whether there was one.',
    params: memoryKeyParams,
    action: 'state',
    runs: 'supervisor',
    readOnly: false,
  },
];
