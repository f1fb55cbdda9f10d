// Writes the JSON Schemas of this folder from the definitions that the code itself checks with. `npm run schemas` runs it;
// a house test compares its result with the committed files, so they cannot drift apart.
import { existsSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { argv } from 'node:process';
import { fileURLToPath } from 'node:url';
import { type JsonSchema, toJsonSchema } from '@valibot/to-json-schema';
import type * as v from 'valibot';
import { DEFAULTS } from '../config/defaults.js';
import type { Group, Leaf } from '../config/leaf.js';
import { CONFIG } from '../config/schema.js';
import { jsonObject, jsonValue } from '../shared/json.js';
import { jobResult } from '../shared/protocol/job-result.js';
import { LATER, METHODS } from '../shared/protocol/methods.js';
import { NOTIFICATIONS } from '../shared/protocol/notifications.js';
import { CATALOGUE } from '../shared/tools/catalogue.js';
import { protocolTypes, schemaFile, titleOf } from './protocol-types.js';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** File name → content, of every generated file. */
export function generateSchemas(): Map<string, string> {
  const tools = Object.fromEntries(
    CATALOGUE.map((spec) => [spec.name, closed(convert(spec.params)) as JsonSchema]),
  );
  return new Map([
    ['config.json', print(titled('turnd configuration', groupSchema(CONFIG, DEFAULTS)))],
    ['job-result.json', print(titled('turnd job result', convert(jobResult)))],
    // Below a key of their own: a loader may make each top key a name, and `await` cannot be one.
    ['tools.json', print({ tools })],
    ['methods.json', print(methodList())],
    ['notifications.json', print(notificationList())],
    ...protocolFiles(),
  ]);
}

/** One file per public type; what it is made of stands in its `$defs`, under the same names. */
function protocolFiles(): [string, string][] {
  const types = protocolTypes();
  return [...types].map(([name, definition]) => {
    const definitions = Object.fromEntries([...types].filter(([other]) => other !== name));
    return [schemaFile(name), print(titled(name, withoutIdle(convert(definition, definitions))))];
  });
}

/** Keeps the definitions that are reached. */
function withoutIdle({ $defs, ...schema }: JsonSchema): JsonSchema {
  const all = ($defs ?? {}) as Readonly<Record<string, unknown>>;
  const reached = new Set<string>();
  const visit = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value).matchAll(/"#\/\$defs\/(\w+)"/g)) {
      if (reached.has(name)) continue;
      reached.add(name);
      visit(all[name]);
    }
  };
  visit(schema);
  if (reached.size === 0) return schema;
  return {
    ...schema,
    $defs: Object.fromEntries([...reached].sort().map((name) => [name, all[name]])),
  } as JsonSchema;
}

/** Every method of the protocol: those that are answered with their types, the others by name. */
function methodList(): object {
  const here = Object.entries(METHODS).map(([method, { params, result, scope }]) => [
    method,
    { params: titleOf(params), result: titleOf(result), scope },
  ]);
  const later = Object.entries(LATER).flatMap(([group, names]) => names.map((name) => `${group}/${name}`));
  return { available: Object.fromEntries(here), unavailable: later };
}

function notificationList(): object {
  return Object.fromEntries(
    Object.entries(NOTIFICATIONS).map(([method, params]) => [method, { params: titleOf(params) }]),
  );
}

/** The input side: what may be written, before a duration becomes milliseconds. What has no equivalent throws. */
function convert(
  schema: v.GenericSchema,
  definitions: Readonly<Record<string, v.GenericSchema>> = {},
): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
    definitions,
    typeMode: 'input',
    target: 'draft-2020-12',
    // These only narrow what the code accepts; a JSON Schema that is a little wider misleads nobody.
    ignoreActions: ['brand', 'check', 'raw_check', 'trim'],
    overrideSchema: ({ valibotSchema }) => {
      if (valibotSchema === jsonValue) return {};
      return valibotSchema === jsonObject ? { type: 'object' } : undefined;
    },
  });
  return rest;
}

function titled(title: string, schema: JsonSchema): JsonSchema {
  return { $schema: DIALECT, title, ...schema };
}

/** Says of every object with named properties that it takes no others: models then invent fewer arguments. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed);
  if (typeof schema !== 'object' || schema === null) return schema;
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]));
  return 'properties' in schema && 'type' in schema ? { ...inner, additionalProperties: false } : inner;
}

function groupSchema(group: Group, defaults: Readonly<Record<string, unknown>>): JsonSchema {
  const properties = Object.entries(group.keys).map(([key, entry]) => {
    const schema =
      entry.is === 'group'
        ? groupSchema(entry, defaults[key] as Readonly<Record<string, unknown>>)
        : leafSchema(entry, defaults[key + entry.unit]);
    return [key, schema] as const;
  });
  return {
    description: group.description,
    type: 'object',
    properties: Object.fromEntries(properties),
    additionalProperties: false,
  };
}

function leafSchema(leaf: Leaf<unknown, string>, fallback: unknown): JsonSchema {
  const told = fallback === null ? '' : ` Default: ${leaf.show(fallback)}.`;
  return { description: leaf.description + told, ...convert(leaf.schema) };
}

function print(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The checkout, whether this file runs as source or as compiled code. */
export function projectRoot(from: string): string {
  let folder = dirname(from);
  while (!existsSync(join(folder, 'package.json'))) folder = dirname(folder);
  return folder;
}

const self = fileURLToPath(import.meta.url);
if (argv[1] === self) {
  for (const [name, content] of generateSchemas()) {
    writeFileSync(join(projectRoot(self), 'schemas', name), content);
  }
}
