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
import { CATALOGUE } from '../shared/tools/catalogue.js';

const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** File name → content, of every generated file. */
export function generateSchemas(): Map<string, string> {
  const tools = Object.fromEntries(
    CATALOGUE.map((spec) => [spec.name, closed(convert(spec.params)) as JsonSchema]),
  );
  return new Map([
    ['config.json', print(titled('turnd configuration', groupSchema(CONFIG, DEFAULTS)))],
    ['job-result.json', print(titled('turnd job result', convert(jobResult)))],
    ['tools.json', print(tools)],
  ]);
}

/** The input side: what may be written, before a duration becomes milliseconds. What has no equivalent throws. */
function convert(schema: v.GenericSchema): JsonSchema {
  const { $schema: _, ...rest } = toJsonSchema(schema, {
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
