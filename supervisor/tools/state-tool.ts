// What a state tool is: a synchronous change of our own state, run inside the transaction that also commits its result.
import type * as v from 'valibot';
import type { newId } from '../../shared/ids.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import type { ToolParams } from '../../shared/tools/tool-spec.js';
import type { Store } from '../store/types.js';

export interface StateToolContext {
  readonly store: Store;
  readonly threadId: string;
  readonly turnId: string;
  readonly nowMs: number;
  readonly newId: typeof newId;
}

/** `args` have passed the params of the tool's spec. What cannot be done is a result with `is_error`, never a throw. */
export type StateTool = (args: Record<string, unknown>, context: StateToolContext) => ToolResult;

/** Gives a behaviour the type of its spec's params. */
export function stateTool<Params extends ToolParams>(
  _params: Params,
  run: (args: v.InferOutput<Params>, context: StateToolContext) => ToolResult,
): StateTool {
  return (args, context) => run(args as v.InferOutput<Params>, context);
}
