// One entry of a turn's frozen tool plan, as the worker gets it.
import * as v from 'valibot';
import { jsonObject } from '../json.js';

export const plannedTool = v.object({
  name: v.string(),
  /** The name on the provider's wire: `[A-Za-z0-9_-]{1,64}`, unique in the plan. */
  wire_name: v.string(),
  description: v.string(),
  /** JSON Schema of the arguments. */
  input_schema: jsonObject,
  runs: v.picklist(['worker', 'supervisor']),
  read_only: v.boolean(),
  polls: v.boolean(),
});
export type PlannedTool = v.InferOutput<typeof plannedTool>;
