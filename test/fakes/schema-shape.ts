// JSON Schemas reduced to what two sides of a wire must agree on: fields, which are required, types, values. Differences
// are lines that name their place.
type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type JsonSchema = { [key: string]: Json };

interface Shape {
  readonly types: readonly string[];
  readonly values: readonly string[] | null;
  readonly required: readonly string[];
  readonly fields: ReadonlyMap<string, JsonSchema>;
  readonly items: JsonSchema | null;
  /** Alternatives by their tag. */
  readonly variants: ReadonlyMap<string, JsonSchema> | null;
}

interface Side {
  readonly schema: Json;
  readonly defs: JsonSchema;
}

export function differences(ours: JsonSchema, theirs: JsonSchema): string[] {
  return compare(
    { schema: ours, defs: object(ours['$defs']) },
    { schema: theirs, defs: object(theirs['$defs']) },
    '',
    [],
  );
}

function compare(ours: Side, theirs: Side, path: string, trail: readonly string[]): string[] {
  if (ours.schema === true || theirs.schema === true || isOpen(ours.schema) || isOpen(theirs.schema))
    return [];
  const refs = `${JSON.stringify(ours.schema)}|${JSON.stringify(theirs.schema)}`;
  if (trail.includes(refs)) return [];
  const [left, right] = [shapeOf(ours), shapeOf(theirs)];
  const next = [...trail, refs];
  const at = (inner: string): string => (path === '' ? inner : `${path}.${inner}`);
  const found: string[] = [];
  const note = (what: string): void => void found.push(`${path || '(root)'}: ${what}`);
  if (left.variants !== null || right.variants !== null) {
    const [mine, other] = [left.variants ?? new Map(), right.variants ?? new Map()];
    for (const tag of other.keys()) if (!mine.has(tag)) note(`has no variant ${tag}`);
    for (const tag of mine.keys()) if (!other.has(tag)) note(`adds variant ${tag}`);
    for (const [tag, schema] of mine)
      if (other.has(tag))
        found.push(
          ...compare(
            { ...ours, schema },
            { ...theirs, schema: other.get(tag) as Json },
            at(`<${tag}>`),
            next,
          ),
        );
    return found;
  }
  if (left.types.join() !== right.types.join())
    note(`is ${left.types.join('|')}, not ${right.types.join('|')}`);
  for (const value of right.values ?? [])
    if (left.values?.includes(value) === false) note(`has no value ${value}`);
  for (const value of left.values ?? [])
    if (right.values?.includes(value) === false) note(`adds value ${value}`);
  for (const name of right.required) if (!left.required.includes(name)) note(`does not require ${name}`);
  for (const name of left.required) if (!right.required.includes(name)) note(`requires ${name}`);
  for (const name of right.fields.keys()) if (!left.fields.has(name)) note(`has no field ${name}`);
  for (const name of left.fields.keys()) if (!right.fields.has(name)) note(`adds field ${name}`);
  for (const [name, schema] of left.fields) {
    const other = right.fields.get(name);
    if (other !== undefined)
      found.push(...compare({ ...ours, schema }, { ...theirs, schema: other }, at(name), next));
  }
  if (left.items !== null && right.items !== null)
    found.push(
      ...compare({ ...ours, schema: left.items }, { ...theirs, schema: right.items }, at('[]'), next),
    );
  return found;
}

/** Says nothing about its value. */
function isOpen(schema: Json): boolean {
  const told = Object.keys(object(schema)).filter(
    (key) => !/^(?:\$schema|title|description|default)$/.test(key),
  );
  return told.length === 0;
}

function shapeOf(side: Side): Shape {
  const schema = merged(side);
  const alternatives = list(schema['oneOf'] ?? schema['anyOf']).map((one) =>
    merged({ ...side, schema: one }),
  );
  const real = alternatives.filter((one) => one['type'] !== 'null');
  if (alternatives.length > 0 && real.length <= 1) {
    const inner = shapeOf({ ...side, schema: real[0] ?? {} });
    return { ...inner, types: [...new Set([...inner.types, 'null'])].sort() };
  }
  const tags = real.map(tagOf);
  if (real.length > 1 && tags.every((tag) => tag !== null))
    return { ...NOTHING, variants: new Map(real.map((one, index) => [tags[index] ?? '', one])) };
  if (real.length > 1) {
    const parts = real.map((one) => shapeOf({ ...side, schema: one }));
    return {
      ...NOTHING,
      types: [...new Set(parts.flatMap(({ types }) => types))].sort(),
      values: parts.flatMap(({ values }) => values ?? []),
    };
  }
  const { const: only, enum: several } = schema;
  const values = only === undefined ? (several === undefined ? null : list(several)) : [only];
  return {
    types: [schema['type'] ?? (only === undefined ? [] : typeof only)].flat().map(String).sort(),
    values: values === null ? null : values.map(String),
    required: list(schema['required']).map(String),
    fields: new Map(Object.entries(object(schema['properties'])) as [string, JsonSchema][]),
    items: schema['items'] === undefined ? null : object(schema['items']),
    variants: null,
  };
}

const NOTHING: Shape = {
  types: [],
  values: null,
  required: [],
  fields: new Map(),
  items: null,
  variants: null,
};

/** The schema with what its reference says; both may say something. */
function merged({ schema, defs }: Side): JsonSchema {
  const own = object(schema);
  const ref = own['$ref'];
  if (typeof ref !== 'string') return own;
  const named = merged({ schema: defs[ref.slice('#/$defs/'.length)] ?? {}, defs });
  return {
    ...named,
    ...own,
    properties: { ...object(named['properties']), ...object(own['properties']) },
    required: [...new Set([...list(named['required']), ...list(own['required'])])],
  };
}

function tagOf(schema: JsonSchema): string | null {
  for (const key of ['type', 'kind', 'mode']) {
    const tag = object(object(schema['properties'])[key]);
    const value = tag['const'] ?? list(tag['enum'])[0];
    if (typeof value === 'string') return value;
  }
  return null;
}

function object(value: Json | undefined): JsonSchema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function list(value: Json | undefined): Json[] {
  return Array.isArray(value) ? value : [];
}
