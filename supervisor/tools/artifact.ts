// artifact.create, .get, .list. A thread sees its own artifacts only.
import {
  artifactCreateParams,
  artifactGetParams,
  artifactListParams,
} from '../../shared/tools/artifact-tools.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import type { ArtifactRow } from '../store/rows.js';
import { stateTool } from './state-tool.js';

const TEXT = 'text/plain; charset=utf-8';
const BINARY = 'application/octet-stream';

export const artifactCreate = stateTool(artifactCreateParams, (args, context) => {
  const content = bytesOf(args.content, args.encoding);
  if (content === null) return toolError('content is not base64; give plain text with encoding utf8');
  const row = context.store.artifacts.create(content, {
    artifact_id: context.newId('artifact', context.nowMs),
    thread_id: context.threadId,
    turn_id: context.turnId,
    name: args.name,
    mime: args.mime ?? (args.encoding === 'utf8' ? TEXT : BINARY),
    created_at_ms: context.nowMs,
  });
  return { content: { id: row.artifact_id, bytes: row.bytes, sha256: row.sha256 }, is_error: false };
});

export const artifactGet = stateTool(artifactGetParams, ({ id, offset, length }, { store, threadId }) => {
  const row = store.artifacts.get(id);
  if (row === undefined || row.thread_id !== threadId)
    return toolError(`there is no artifact ${id} in this conversation; artifact.list names those there are`);
  let part: Uint8Array;
  try {
    part = store.artifacts.read(id, offset, length);
  } catch {
    return toolError(`the content of ${id} is gone from the disk`);
  }
  return partResult(row, Buffer.from(part), offset);
});

export const artifactList = stateTool(artifactListParams, ({ prefix, limit }, { store, threadId }) => {
  const rows = store.artifacts.list(threadId, prefix, limit + 1);
  const artifacts = rows.slice(0, limit).map(({ artifact_id, name, mime, bytes, created_at_ms }) => ({
    id: artifact_id,
    name,
    mime,
    bytes,
    created_at_ms,
  }));
  return { content: { artifacts, truncated: rows.length > limit }, is_error: false };
});

function bytesOf(content: string, encoding: 'utf8' | 'base64'): Buffer | null {
  if (encoding === 'utf8') return Buffer.from(content);
  const plain = content.replaceAll(/\s/g, '');
  return /^[A-Za-z0-9+/]*={0,2}$/.test(plain) && plain.length % 4 === 0 ? Buffer.from(plain, 'base64') : null;
}

function partResult(row: ArtifactRow, part: Buffer, offset: number): ToolResult {
  const last = offset + part.length >= row.bytes;
  const whole = last ? part.length : wholeCharacters(part);
  const text = textOf(part.subarray(0, whole), row.mime);
  const taken = text === null ? part.length : whole;
  return {
    content: {
      id: row.artifact_id,
      name: row.name,
      mime: row.mime,
      bytes: row.bytes,
      offset,
      next_offset: offset + taken < row.bytes && taken > 0 ? offset + taken : null,
      encoding: text === null ? 'base64' : 'utf8',
      content: text ?? part.toString('base64'),
    },
    is_error: false,
  };
}

/** Text stays text though a few bytes of it are not; anything else must be UTF-8 throughout. */
function textOf(part: Buffer, mime: string): string | null {
  const fatal = !mime.startsWith('text/');
  try {
    const text = new TextDecoder('utf-8', { fatal, ignoreBOM: true }).decode(part);
    return fatal && text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/** Bytes without a character that is cut at the end; all of them when there is no such character. */
function wholeCharacters(part: Buffer): number {
  for (let back = 1; back <= Math.min(3, part.length - 1); back += 1) {
    const byte = part[part.length - back] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    const needs = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
    return needs > back ? part.length - back : part.length;
  }
  return part.length;
}
