// Answers that must match a JSON Schema: finds the JSON in what the model wrote, and checks it. The checker is loaded
// only for turns that have a schema.
import type { JsonObject, JsonValue } from '../shared/json.js';
import { cutText } from '../shared/transcript/unicode.js';

type Checked =
  /** `reply` is the value as JSON. */
  | { readonly ok: true; readonly reply: string }
  /** `problem` is for the model: what does not match, and where. */
  | { readonly ok: false; readonly problem: string };

export type AnswerCheck = (text: string) => Checked;

const PROBLEM_BYTES = 2_000;

/** Null when the schema itself is not one. */
export async function answerCheck(schema: JsonObject): Promise<AnswerCheck | null> {
  const { Ajv2020 } = await import('ajv/dist/2020.js');
  const { Ajv } = await import('ajv');
  const options = { strict: false, validateFormats: false, allErrors: true, logger: false as const };
  const modern = typeof schema.$schema !== 'string' || schema.$schema.includes('2020-12');
  const ajv = modern ? new Ajv2020(options) : new Ajv(options);
  try {
    const validate = ajv.compile(schema);
    return (text) => {
      const values = valuesIn(text);
      for (const value of values) if (validate(value)) return { ok: true, reply: JSON.stringify(value) };
      if (values.length === 0) return { ok: false, problem: 'there is no valid JSON in it' };
      validate(values[0]);
      return {
        ok: false,
        problem: cutText(ajv.errorsText(validate.errors, { dataVar: 'answer' }), PROBLEM_BYTES),
      };
    };
  } catch {
    return null;
  }
}

/** What the text may mean, most literal reading first: all of it, without a code fence, one object, one list in it. */
function valuesIn(text: string): JsonValue[] {
  const unfenced = /^\s*```[^\n]*\n([\s\S]*?)\n?```\s*$/.exec(text)?.[1];
  const readings = [text, unfenced, span(text, '{', '}'), span(text, '[', ']')];
  const values: JsonValue[] = [];
  for (const reading of readings) {
    if (reading === undefined) continue;
    try {
      values.push(JSON.parse(reading) as JsonValue);
    } catch {
      // Not JSON when read this way; the next reading may be.
    }
  }
  return values;
}

function span(text: string, open: string, close: string): string | undefined {
  const from = text.indexOf(open);
  const to = text.lastIndexOf(close);
  return from >= 0 && to > from ? text.slice(from, to + 1) : undefined;
}
