// The prompt template of this supervisor: the built-in one, or the operator's file.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { TurndError } from '../../shared/errors.js';
import { BUILT_IN_TEMPLATE, promptTemplate } from './prompt.js';
import type { Template } from './template.js';

/** `path` as configured (`context.template`), relative to `cwd`; absent means the built-in template. */
export function loadTemplate(path: string | undefined, cwd: string): Template {
  const source = path === undefined ? BUILT_IN_TEMPLATE : readTemplate(resolve(cwd, path));
  const parsed = promptTemplate(source);
  if (!parsed.ok) throw new TurndError('invalid_config', `context.template ${path ?? ''}: ${parsed.message}`);
  return parsed.template;
}

function readTemplate(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new TurndError(
      'invalid_config',
      `context.template: ${path} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    );
  }
}
