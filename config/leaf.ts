// The kinds of values that a configuration holds. A leaf knows its JSON shape (a valibot schema, from which the public
// JSON Schema is generated), how text from the environment or the command line becomes such a value, and how the value
// is read into the form that the code uses (milliseconds, bytes, absolute paths).
import { accessSync, constants, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as v from 'valibot';
import { looksLikeCredential } from './credential-shape.js';
import { nearest } from './nearest.js';
import { hasReference } from './secrets.js';
import {
  DURATION_PATTERN,
  formatDuration,
  formatSize,
  parseDuration,
  parseSize,
  SIZE_PATTERN,
} from './units.js';

/** What reading a value may need to know, and may leave behind. */
export interface ReadContext {
  readonly env: NodeJS.ProcessEnv;
  /** Relative paths start here. */
  readonly folder: string;
  /** Called with each secret value, so that it can be masked everywhere. */
  readonly onSecret: (value: string) => void;
  readonly onWarning: (message: string) => void;
}

export interface Complaint {
  readonly message: string;
  readonly suggestion?: string | undefined;
  /** Key below the leaf, for records. */
  readonly key?: string;
}

export type Read<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly complaints: readonly Complaint[] };

export interface Leaf<Value, Unit extends string = ''> {
  readonly is: 'leaf';
  /** Appended to the key in the parsed configuration: `deadline` is read as `deadline_ms`. */
  readonly unit: Unit;
  readonly description: string;
  /** Shape in the file. */
  readonly schema: v.GenericSchema<unknown>;
  /** True when the key may be absent and has no default; it then reads as null. */
  readonly nullable: boolean;
  /** Turns text (environment, flag) into what a file would hold. Text that fits nothing is passed on, to be refused. */
  fromText(text: string): unknown;
  read(raw: unknown, context: ReadContext): Read<Value>;
  /** YAML of a parsed value, for `turnd config show`; never a secret. */
  show(value: Value): string;
}

export interface Group<Keys extends GroupKeys = GroupKeys> {
  readonly is: 'group';
  readonly description: string;
  readonly keys: Keys;
}

// Method syntax of `show` makes leaves of any value assignable here.
export type GroupKeys = { readonly [key: string]: Leaf<unknown, string> | Group };

export function group<const Keys extends GroupKeys>(description: string, keys: Keys): Group<Keys> {
  return { is: 'group', description, keys };
}

/** The same leaf, but it may be absent, and is then null. */
export function optional<Value, Unit extends string>(leaf: Leaf<Value, Unit>): Leaf<Value | null, Unit> {
  return {
    ...leaf,
    nullable: true,
    show: (value) => (value === null ? 'null' : leaf.show(value)),
  };
}

export function complaint(message: string, suggestion?: string): Read<never> {
  return { ok: false, complaints: [suggestion === undefined ? { message } : { message, suggestion }] };
}

export const showText = (value: string): string => JSON.stringify(value);

/** A leaf whose value is read by its schema alone; schemas end with the checks of the parsed value. */
export function leafOf<Value, Unit extends string = ''>(
  description: string,
  schema: v.GenericSchema<unknown, Value>,
  options: { readonly unit?: Unit; fromText?(text: string): unknown; show(value: Value): string },
): Leaf<Value, Unit> {
  return {
    is: 'leaf',
    unit: (options.unit ?? '') as Unit,
    description,
    schema,
    nullable: false,
    fromText: options.fromText ?? ((value) => value),
    read(raw) {
      const parsed = v.safeParse(schema, raw);
      return parsed.success ? { ok: true, value: parsed.output } : complaint(parsed.issues[0].message);
    },
    show: options.show,
  };
}

export interface Bounds {
  readonly min: number;
  readonly max: number;
}

const numeric = (value: string): unknown => (/^-?\d+(?:\.\d+)?$/.test(value) ? Number(value) : value);

export function text(
  description: string,
  options: { readonly max: number; readonly pattern?: RegExp; readonly expected?: string },
): Leaf<string> {
  const expected = options.expected ?? 'expected text';
  const base = v.pipe(
    v.string(expected),
    v.maxLength(options.max, `is longer than ${options.max} characters`),
    v.check(
      (value) => !hasReference(value),
      'a secret must not be used here: this text is shown to models and people',
    ),
    v.check((value) => !looksLikeCredential(value), 'holds what looks like a credential'),
  );
  const schema = options.pattern === undefined ? base : v.pipe(base, v.regex(options.pattern, expected));
  return leafOf(description, schema, { show: showText });
}

export function count(description: string, { min, max }: Bounds): Leaf<number> {
  const range = `a whole number from ${min} to ${max}`;
  const schema = v.pipe(
    v.number(`expected ${range}`),
    v.integer(`expected ${range}`),
    v.minValue(min, `is too small: expected ${range}`),
    v.maxValue(max, `is too large: expected ${range}`),
  );
  return leafOf(description, schema, { fromText: numeric, show: String });
}

/** Text from the environment or a flag that stands for a mapping or a list of mappings. */
export function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** A number that may have a fraction. */
export function amount(description: string, { min, max }: Bounds): Leaf<number> {
  const range = `a number from ${min} to ${max}`;
  const schema = v.pipe(
    v.number(`expected ${range}`),
    v.minValue(min, `is too small: expected ${range}`),
    v.maxValue(max, `is too large: expected ${range}`),
  );
  return leafOf(description, schema, { fromText: numeric, show: String });
}

/** `min` and `max` in milliseconds. */
export function duration(description: string, { min, max }: Bounds): Leaf<number, '_ms'> {
  const expected = 'expected a duration such as 500ms, 90s, 10m or 1h (a bare number counts seconds)';
  const schema = v.pipe(
    v.union(
      [v.pipe(v.string(), v.regex(DURATION_PATTERN, expected)), v.pipe(v.number(), v.minValue(0, expected))],
      expected,
    ),
    v.transform(parseDuration),
    v.minValue(min, `is too short: the least is ${formatDuration(min)}`),
    v.maxValue(max, `is too long: the most is ${formatDuration(max)}`),
  );
  return leafOf(description, schema, { unit: '_ms', fromText: numeric, show: formatDuration });
}

/** `min` and `max` in bytes. */
export function size(description: string, { min, max }: Bounds): Leaf<number, '_bytes'> {
  const expected = 'expected a size such as 64KB, 10MB or 1GB (a bare number counts bytes)';
  const schema = v.pipe(
    v.union(
      [v.pipe(v.string(), v.regex(SIZE_PATTERN, expected)), v.pipe(v.number(), v.minValue(0, expected))],
      expected,
    ),
    v.transform(parseSize),
    v.integer(expected),
    v.minValue(min, `is too small: the least is ${formatSize(min)}`),
    v.maxValue(max, `is too large: the most is ${formatSize(max)}`),
  );
  return leafOf(description, schema, { unit: '_bytes', fromText: numeric, show: formatSize });
}

export function choice<const Options extends readonly string[]>(
  description: string,
  options: Options,
): Leaf<Options[number]> {
  const expected = `expected one of ${options.join(', ')}`;
  const schema = v.picklist(options, expected);
  return {
    ...leafOf(description, schema, { show: String }),
    read(raw) {
      if (v.is(schema, raw)) return { ok: true, value: raw };
      return complaint(expected, typeof raw === 'string' ? nearest(raw, options) : undefined);
    },
  };
}

/** A comma-separated list where it comes as text. */
export function list<Item extends string>(
  description: string,
  item: v.GenericSchema<unknown, Item>,
): Leaf<readonly Item[]> {
  const schema = v.pipe(v.array(item, 'expected a list'), v.maxLength(1000, 'has more than 1000 entries'));
  return leafOf(description, schema, {
    fromText: (value) =>
      value
        .split(',')
        .map((entry) => entry.trim())
        .filter((entry) => entry !== ''),
    show: (value) => JSON.stringify(value),
  });
}

/** An absolute path afterwards; `~/` is the home directory. `file: true` asks for a file that can be read now. */
export function path(description: string, options: { readonly file: boolean }): Leaf<string> {
  const expected = 'expected a path';
  const schema = v.pipe(
    v.string(expected),
    v.minLength(1, expected),
    v.maxLength(4096, 'is too long for a path'),
    v.check((value) => !value.includes('\0'), expected),
  );
  return {
    ...leafOf(description, schema, { show: showText }),
    read(raw, context) {
      const parsed = v.safeParse(schema, raw);
      if (!parsed.success) return complaint(parsed.issues[0].message);
      const home = context.env.HOME;
      const spelled = parsed.output;
      const value =
        home !== undefined && spelled.startsWith('~/')
          ? join(home, spelled.slice(2))
          : resolve(context.folder, spelled);
      const trouble = options.file ? unreadable(value) : undefined;
      return trouble === undefined ? { ok: true, value } : complaint(trouble);
    },
  };
}

function unreadable(file: string): string | undefined {
  try {
    if (!statSync(file).isFile()) return `${file} is not a regular file`;
    accessSync(file, constants.R_OK);
    return undefined;
  } catch (error) {
    return `${file} cannot be read: ${(error as NodeJS.ErrnoException).code ?? 'unknown error'}`;
  }
}
