// How a model is told which JSON its answer must be: by an option of the dialect that holds it to a schema, or by words
// after the system prompt. Whether the answer fits is checked elsewhere, in every case.
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { ModelRequest } from './provider.js';
import { isObject } from './wire-text.js';

interface AnswerForm {
  /** The schema to send as an option; null for none. */
  readonly native: JsonObject | null;
  /** The system prompt, with the schema in words where no option says it. */
  readonly systemPrompt: string;
}

/** `able` says whether the dialect has such an option for this model; a refused one (`response_format`) is never sent. */
export function answerForm(request: ModelRequest, omit: ReadonlySet<string>, able: boolean): AnswerForm {
  const { output_schema: schema, system_prompt: prompt } = request;
  if (schema === undefined) return { native: null, systemPrompt: prompt };
  const wish = request.settings.structured_output ?? 'auto';
  const native = !omit.has('response_format') && (wish === 'json_schema' || (wish === 'auto' && able));
  if (native) return { native: schema, systemPrompt: prompt };
  const words = `Your final answer must be one JSON value that matches this JSON Schema, without any text around it:\n${JSON.stringify(schema)}`;
  return { native: null, systemPrompt: prompt.trim() === '' ? words : `${prompt}\n\n${words}` };
}

/** Strict generation takes only closed objects whose fields are all required; other schemas are held loosely. */
export function fitsStrict(schema: JsonValue | undefined): boolean {
  if (Array.isArray(schema)) return schema.every(fitsStrict);
  if (!isObject(schema)) return true;
  if (schema.type === 'object' || schema.properties !== undefined) {
    const names = isObject(schema.properties) ? Object.keys(schema.properties) : [];
    const required = Array.isArray(schema.required) ? schema.required : [];
    if (schema.additionalProperties !== false || names.some((name) => !required.includes(name))) return false;
  }
  return Object.values(schema).every(fitsStrict);
}
