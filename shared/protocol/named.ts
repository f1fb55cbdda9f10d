// Gives a definition its public name: the name of its file below schemas/ and of its `$ref` in others.
import * as v from 'valibot';

export function named<const Schema extends v.GenericSchema>(title: string, schema: Schema) {
  return v.pipe(schema, v.title<v.InferOutput<Schema>, string>(title));
}

/** Whole number, zero or more. */
export const count = v.pipe(v.number(), v.integer(), v.minValue(0));
export const whole = v.pipe(v.number(), v.integer());

/** A name that somebody else gave. Blank ones name nothing. */
export const givenId = v.pipe(
  v.string(),
  v.check((text) => text.trim() !== '', 'must not be blank'),
);
