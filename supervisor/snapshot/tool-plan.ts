// The tools of a turn, frozen: which there are, under which wire names, with which schemas, and who runs them.

import schemas from '../../schemas/tools.json' with { type: 'json' };
import type { JsonObject } from '../../shared/json.js';
import { CATALOGUE } from '../../shared/tools/catalogue.js';
import type { PlannedTool } from '../../shared/tools/tool-plan.js';
import { wireNames } from '../../shared/tools/wire-names.js';

const SCHEMAS = schemas.tools as Readonly<Record<string, unknown>>;

/** Built once: the catalogue does not change while a supervisor lives. */
let planned: readonly PlannedTool[] | null = null;

export function toolPlan(): readonly PlannedTool[] {
  planned ??= plan();
  return planned;
}

function plan(): PlannedTool[] {
  const names = wireNames(CATALOGUE.map((spec) => spec.name));
  return CATALOGUE.map((spec) => {
    const schema = SCHEMAS[spec.name];
    const wireName = names.get(spec.name);
    if (schema === undefined || wireName === undefined)
      throw new TypeError(`tool ${spec.name} has no generated schema; run npm run schemas`);
    return {
      name: spec.name,
      wire_name: wireName,
      description: spec.description,
      input_schema: schema as JsonObject,
      runs: spec.runs,
      read_only: spec.readOnly,
      polls: spec.polls ?? spec.readOnly,
    };
  });
}
