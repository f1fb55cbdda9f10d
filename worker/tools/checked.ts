// Binds an executor to the params of its spec, and turns what the world refused into a result. The supervisor has judged
// what it granted; the second look costs microseconds, fills in defaults, and means that no executor sees a strange shape.
import * as v from 'valibot';
import type { JsonObject } from '../../shared/json.js';
import { toolError } from '../../shared/tools/tool-result.js';
import type { Executor } from './executor.js';
import { fileFailure } from './files/errno.js';
import { ToolFailure } from './files/tool-failure.js';

/** `run` may throw a ToolFailure; the executor that is made does not. */
export function checked<const Schema extends v.GenericSchema>(
  schema: Schema,
  run: Executor<v.InferOutput<Schema>>,
): Executor<JsonObject> {
  return async (params, context) => {
    const parsed = v.safeParse(schema, params);
    if (!parsed.success) {
      const problems = parsed.issues.map(
        (issue) => `${v.getDotPath(issue) ?? 'arguments'}: ${issue.message}`,
      );
      return toolError(`The arguments do not fit the tool: ${problems.join('; ')}.`);
    }
    if (context.signal.aborted) return toolError('Not run: the turn is ending.');
    try {
      return await run(parsed.output, context);
    } catch (error) {
      const failure = fileFailure(error, 'A file that this needs');
      if (failure instanceof ToolFailure) return toolError(failure.message, failure.details);
      throw error;
    }
  };
}
