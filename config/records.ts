// Leaves whose values have fields of their own: lists of entries, and mappings from names that the operator chooses.
// Each field is a leaf again; what is wrong with one is told with its own place.
import * as v from 'valibot';
import { type Complaint, fromJson, type Leaf, type Read, type ReadContext, showText } from './leaf.js';
import { nearest } from './nearest.js';

type Fields = { readonly [key: string]: Leaf<unknown, string> };
type NameOf<Key extends string, One> = One extends { readonly unit: infer Unit extends string }
  ? `${Key}${Unit}`
  : Key;

/** The parsed form of such fields: names as in the file with their unit appended, null for what is absent. */
export type RecordOf<Of extends Fields> = {
  readonly [Key in keyof Of & string as NameOf<Key, Of[Key]>]: Of[Key] extends Leaf<infer Value, string>
    ? Value
    : never;
};

const ENTRIES_MAX = 1000;

/** A list of entries with these fields. As text (environment, flag): a JSON array. */
export function records<const Of extends Fields>(
  description: string,
  fields: Of,
): Leaf<readonly RecordOf<Of>[]> {
  const expected = `expected a list of mappings of ${Object.keys(fields).join(', ')}`;
  const schema = v.pipe(
    v.array(schemaOf(fields), expected),
    v.maxLength(ENTRIES_MAX, `has more than ${ENTRIES_MAX} entries`),
  );
  return {
    is: 'leaf',
    unit: '',
    description,
    schema,
    nullable: false,
    fromText: fromJson,
    show: (value) => `[${value.map((one) => showFields(fields, one)).join(', ')}]`,
    read(raw, context) {
      if (!Array.isArray(raw)) return { ok: false, complaints: [{ message: expected }] };
      if (raw.length > ENTRIES_MAX)
        return { ok: false, complaints: [{ message: `has more than ${ENTRIES_MAX} entries` }] };
      const read = raw.map((one: unknown, index) => readFields(one, fields, context, String(index)));
      return gather(read);
    },
  };
}

/** Entries with these fields under names of the operator's. As text (environment, flag): a JSON object. */
export function table<const Of extends Fields>(
  description: string,
  name: RegExp,
  fields: Of,
): Leaf<Readonly<Record<string, RecordOf<Of>>>> {
  const expected = `expected a mapping of names to mappings of ${Object.keys(fields).join(', ')}`;
  const schema = v.record(v.string(expected), schemaOf(fields), expected);
  return {
    is: 'leaf',
    unit: '',
    description,
    schema,
    nullable: false,
    fromText: fromJson,
    show(value) {
      const entries = Object.entries(value);
      return `{${entries.map(([key, one]) => `${showText(key)}: ${showFields(fields, one)}`).join(', ')}}`;
    },
    read(raw, context) {
      if (!isMapping(raw)) return { ok: false, complaints: [{ message: expected }] };
      const names = Object.keys(raw);
      const read = names.map((key): Read<RecordOf<Of>> => {
        if (!name.test(key)) return { ok: false, complaints: [{ key, message: 'is no name for an entry' }] };
        return readFields(raw[key], fields, context, key);
      });
      const values = gather(read);
      if (!values.ok) return values;
      return { ok: true, value: Object.fromEntries(values.value.map((one, index) => [names[index], one])) };
    },
  };
}

/** One mapping with these fields. As text (environment, flag): a JSON object. */
export function record<const Of extends Fields>(description: string, fields: Of): Leaf<RecordOf<Of>> {
  return {
    is: 'leaf',
    unit: '',
    description,
    schema: schemaOf(fields),
    nullable: false,
    fromText: fromJson,
    show: (value) => showFields(fields, value),
    read(raw, context) {
      const read = readFields(raw, fields, context, '');
      if (read.ok) return read;
      const complaints = read.complaints.map(({ key = '', ...one }) =>
        key === '' ? one : { ...one, key: key.replace(/^\./, '') },
      );
      return { ok: false, complaints };
    },
  };
}

/** Texts under names of the operator's. As text (environment, flag): a JSON object. */
export function texts(
  description: string,
  name: RegExp,
  each: Leaf<string>,
): Leaf<Readonly<Record<string, string>>> {
  const expected = 'expected a mapping of names to text';
  return {
    is: 'leaf',
    unit: '',
    description,
    schema: v.record(v.string(expected), each.schema, expected),
    nullable: false,
    fromText: fromJson,
    show(value) {
      const shown = Object.entries(value).map(([key, one]) => `${showText(key)}: ${each.show(one)}`);
      return `{${shown.join(', ')}}`;
    },
    read(raw, context) {
      if (!isMapping(raw)) return { ok: false, complaints: [{ message: expected }] };
      const names = Object.keys(raw);
      const values = gather(
        names.map((key): Read<string> => {
          if (!name.test(key))
            return { ok: false, complaints: [{ key, message: 'is no name for an entry' }] };
          const read = readField(each, raw[key], context);
          if (!read.ok) return { ok: false, complaints: read.complaints.map((one) => ({ ...one, key })) };
          return { ok: true, value: read.value as string };
        }),
      );
      if (!values.ok) return values;
      return { ok: true, value: Object.fromEntries(values.value.map((one, index) => [names[index], one])) };
    },
  };
}

function gather<Value>(read: readonly Read<Value>[]): Read<Value[]> {
  const complaints = read.flatMap((one) => (one.ok ? [] : one.complaints));
  if (complaints.length > 0) return { ok: false, complaints };
  return { ok: true, value: read.flatMap((one) => (one.ok ? [one.value] : [])) };
}

function schemaOf(fields: Fields): v.GenericSchema<unknown> {
  const expected = `expected a mapping of ${Object.keys(fields).join(', ')}`;
  const entries = Object.entries(fields).map(([key, leaf]) => {
    const told = v.pipe(leaf.schema, v.description(leaf.description));
    return [key, leaf.nullable ? v.optional(told) : told] as const;
  });
  return v.strictObject(Object.fromEntries(entries), expected);
}

function readFields<Of extends Fields>(
  raw: unknown,
  fields: Of,
  context: ReadContext,
  at: string,
): Read<RecordOf<Of>> {
  if (!isMapping(raw)) {
    const message = `expected a mapping of ${Object.keys(fields).join(', ')}`;
    return { ok: false, complaints: [{ key: at, message }] };
  }
  const complaints: Complaint[] = [];
  const value: Record<string, unknown> = {};
  for (const key of Object.keys(raw).filter((one) => !Object.hasOwn(fields, one))) {
    const suggestion = nearest(key, Object.keys(fields));
    complaints.push({ key: `${at}.${key}`, message: 'unknown key', suggestion });
  }
  for (const [key, leaf] of Object.entries(fields)) {
    const read = readField(leaf, Object.hasOwn(raw, key) ? raw[key] : undefined, context);
    if (read.ok) value[key + leaf.unit] = read.value;
    else
      complaints.push(
        ...read.complaints.map((one) => ({
          ...one,
          key: one.key === undefined ? `${at}.${key}` : `${at}.${key}.${one.key}`,
        })),
      );
  }
  if (complaints.length > 0) return { ok: false, complaints };
  // The fields were read one by one, each by the leaf that gives it its type.
  return { ok: true, value: value as RecordOf<Of> };
}

function readField(leaf: Leaf<unknown, string>, raw: unknown, context: ReadContext): Read<unknown> {
  if (raw !== undefined && raw !== null) return leaf.read(raw, context);
  if (leaf.nullable) return { ok: true, value: null };
  return { ok: false, complaints: [{ message: raw === null ? 'has no value' : 'is missing' }] };
}

function showFields<Of extends Fields>(fields: Of, value: RecordOf<Of>): string {
  const values = value as Readonly<Record<string, unknown>>;
  const shown = Object.entries(fields).flatMap(([key, leaf]) => {
    const one = values[key + leaf.unit];
    return one === null ? [] : [`${key}: ${leaf.show(one)}`];
  });
  return `{${shown.join(', ')}}`;
}

function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
