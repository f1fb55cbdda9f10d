// The prompt template of this supervisor: the built-in one, or the operator's file.
import { readFileSync } from 'node:fs';
import { TurndError } from '../../shared/errors.js';
import { BUILT_IN_TEMPLATE, promptTemplate } from './prompt.js';
import type { Template } from './template.js';

/** `path` as configured (`context.template`), absolute; null means the built-in template. */
export function loadTemplate(path: string | null): Template {
  const source = path === null ? BUILT_IN_TEMPLATE : readTemplate(path);
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
