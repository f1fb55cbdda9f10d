// Runs state tools on a real store as the supervisor does: params checked first, then inside a transaction.
import type { Test } from 'tap';
import * as v from 'valibot';
import { newId } from '../../shared/ids.js';
import type { JsonObject } from '../../shared/json.js';
import { STATE_TOOLS } from '../../shared/tools/state-tools.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import type { Store } from '../../supervisor/store/types.js';
import { STATE_TOOLS_RUN } from '../../supervisor/tools/registry.js';
import { THREAD, TURN_ID, testStore } from './open-store.js';

export interface Stage {
  readonly store: Store;
  /** Runs a call as the supervisor does: params checked first, then inside a transaction. */
  call(name: string, args: object, at?: { nowMs?: number; threadId?: string }): ToolResult;
  /** The content of a call that must succeed. */
  ok(name: string, args?: object, at?: { nowMs?: number; threadId?: string }): JsonObject;
  /** The words of a call that must fail. */
  error(name: string, args: object, at?: { nowMs?: number; threadId?: string }): string;
}

/** Whether a model may send these arguments. */
export function accepts(name: string, args: object): boolean {
  const spec = STATE_TOOLS.find((tool) => tool.name === name);
  if (spec === undefined) throw new Error(`no tool ${name}`);
  return v.safeParse(spec.params, args).success;
}

export function stage(t: Test): Stage {
  const store = testStore(t);
  const call: Stage['call'] = (name, args, at = {}) => {
    const spec = STATE_TOOLS.find((tool) => tool.name === name);
    const run = STATE_TOOLS_RUN[name];
    if (spec === undefined || run === undefined) throw new Error(`no tool ${name}`);
    const checked = v.parse(spec.params, args);
    const context = {
      store,
      threadId: at.threadId ?? THREAD,
      turnId: TURN_ID,
      nowMs: at.nowMs ?? 1_000,
      newId,
    };
    return store.transact('state_tool', () => run(checked, context));
  };
  return {
    store,
    call,
    ok: (name, args = {}, at = {}) => {
      const result = call(name, args, at);
      t.equal(result.is_error, false, `${name}: ${JSON.stringify(result.content)}`);
      return result.content as JsonObject;
    },
    error: (name, args, at = {}) => {
      const result = call(name, args, at);
      t.equal(result.is_error, true, `${name} must fail`);
      return String((result.content as JsonObject)['error']);
    },
  };
}
