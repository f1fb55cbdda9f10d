// States as data: a table says where each event leads; a step that the table does not hold is a bug, not a case.
import { strict as assert } from 'node:assert';

export type Machine<S extends string, E extends string> = {
  readonly [state in S]: { readonly [event in E]?: S };
};

/** The next state. Fails as an assertion when the table has no such step. */
export function step<S extends string, E extends string>(
  name: string,
  machine: Machine<S, E>,
  state: S,
  event: E,
): S {
  const next = machine[state][event];
  assert(next !== undefined, `${name}: no step from ${state} by ${event}`);
  return next;
}
