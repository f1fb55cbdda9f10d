// `think` and `decide` wait for another model. After a restart it is asked again: what it said before is not known.
import type { JsonObject } from '../../shared/json.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import type { WaitRow } from '../store/rows.js';
import type { WaitingTool } from './waiting-tool.js';

/** `ask` never rejects for what a model does. */
export function thoughtTool(ask: (wait: WaitRow, signal: AbortSignal) => Promise<ToolResult>): WaitingTool {
  return {
    begin: (args) => ({ subject: args as JsonObject, wakeAtMs: null }),
    arm: (wait, answer) => {
      const stop = new AbortController();
      void ask(wait, stop.signal)
        .catch(() => toolError('the question could not be put to the model'))
        .then((result) => {
          if (!stop.signal.aborted) answer(result);
        });
      return () => stop.abort();
    },
  };
}
