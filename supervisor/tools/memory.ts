// memory.get, .set, .list, .delete.
import type { JsonValue } from '../../shared/json.js';
import {
  MEMORY_VALUE_BYTES_MAX,
  memoryKeyParams,
  memoryListParams,
  memorySetParams,
} from '../../shared/tools/memory-tools.js';
import { toolError } from '../../shared/tools/tool-result.js';
import { stateTool } from './state-tool.js';

export const memoryGet = stateTool(memoryKeyParams, ({ key }, { store, nowMs }) => {
  const row = store.memory.get(key, nowMs);
  if (row === undefined) return { content: { found: false }, is_error: false };
  const meta = { updated_at_ms: row.updated_at_ms, expires_at_ms: row.expires_at_ms };
  return { content: { found: true, value: row.value, meta }, is_error: false };
});

export const memorySet = stateTool(memorySetParams, (args, { store, nowMs }) => {
  const value = args.value as JsonValue;
  const bytes = Buffer.byteLength(JSON.stringify(value));
  if (bytes > MEMORY_VALUE_BYTES_MAX)
    return toolError(
      `the value takes ${bytes} bytes as JSON; at most ${MEMORY_VALUE_BYTES_MAX} are kept. Store large content with artifact.create`,
    );
  const expiresAtMs = args.ttl_seconds === undefined ? null : nowMs + args.ttl_seconds * 1000;
  store.memory.set({ key: args.key, value, updated_at_ms: nowMs, expires_at_ms: expiresAtMs });
  return {
    content: { ok: true, meta: { updated_at_ms: nowMs, expires_at_ms: expiresAtMs } },
    is_error: false,
  };
});

export const memoryList = stateTool(memoryListParams, ({ prefix, limit }, { store, nowMs }) => ({
  content: { ...store.memory.list(prefix, limit, nowMs) },
  is_error: false,
}));

export const memoryDelete = stateTool(memoryKeyParams, ({ key }, { store, nowMs }) => {
  const found = store.memory.get(key, nowMs) !== undefined;
  store.memory.delete(key);
  return { content: { ok: true, found }, is_error: false };
});
