// Reads the calls of an answer: which tool each one means, and its arguments as an object. What cannot be read is never
// guessed, mended or run: a cut `rm -rf /tmp/x` closed by us would be another command. The model gets an error instead.
import { newId } from '../shared/ids.js';
import type { JsonObject, JsonValue } from '../shared/json.js';
import type { PlannedTool } from '../shared/tools/tool-plan.js';
import { strayWireName } from '../shared/tools/wire-names.js';
import type { ToolCall } from '../shared/transcript/message.js';
import { cutText, mapJsonText, wellFormed } from '../shared/transcript/unicode.js';
import type { RawCall } from './models/provider.js';

export type ReadCall =
  | { readonly call: ToolCall; readonly tool: PlannedTool }
  /** Not to be run; `problem` is what the model is told. The call stands in history with `{}` as its arguments. */
  | { readonly call: ToolCall; readonly problem: string };

type Arguments = { readonly value: JsonObject } | { readonly problem: string };

const DEEPEST = 100;
const NAMES_BYTES = 2_000;
const EXCERPT_BYTES = 60;

const CUT =
  'not run: the answer was cut by the output limit, so this call may be incomplete. Send it again in smaller pieces.';

/** In order of the answer. `cut`: the output limit ended the answer, so none of its calls can be trusted. */
export function readCalls(
  raw: readonly RawCall[],
  tools: readonly PlannedTool[],
  cut: boolean,
  nowMs: number,
): ReadCall[] {
  return raw.map((call): ReadCall => {
    const callId = newId('call', nowMs);
    const tool = findTool(tools, call.wire_name);
    const name = tool?.name ?? strayWireName(wellFormed(call.wire_name));
    const broken = (problem: string): ReadCall => ({
      call: { call_id: callId, name, arguments: {} },
      problem,
    });
    if (tool === undefined) return broken(unknownTool(call.wire_name, tools));
    if (cut) return broken(CUT);
    const args = readArguments(call.arguments_text, tool);
    if ('problem' in args) return broken(args.problem);
    return { call: { call_id: callId, name, arguments: args.value }, tool };
  });
}

/** By the name on the wire; a model that has read our own name of a tool may use that too. */
function findTool(tools: readonly PlannedTool[], name: string): PlannedTool | undefined {
  return tools.find((tool) => tool.wire_name === name) ?? tools.find((tool) => tool.name === name);
}

function unknownTool(name: string, tools: readonly PlannedTool[]): string {
  const known = tools.map((tool) => tool.wire_name).join(', ');
  const shown = JSON.stringify(cutText(wellFormed(name), EXCERPT_BYTES));
  return `not run: there is no tool ${shown}. The tools are: ${known === '' ? 'none' : cutText(known, NAMES_BYTES)}`;
}

function readArguments(text: string, tool: PlannedTool): Arguments {
  if (text.trim() === '') {
    if (!takesNothing(tool))
      return { problem: `not run: ${tool.wire_name} needs arguments, and none were sent.` };
    return { value: {} };
  }
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch (error) {
    return { problem: notJson(text, error) };
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { problem: `not run: the arguments must be one JSON object, not ${kindOf(value)}.` };
  if (isDeeper(value, DEEPEST))
    return { problem: `not run: the arguments nest deeper than ${DEEPEST} levels.` };
  return { value: mapJsonText(value, wellFormed) as JsonObject };
}

function takesNothing(tool: PlannedTool): boolean {
  const { required } = tool.input_schema;
  return !Array.isArray(required) || required.length === 0;
}

function notJson(text: string, error: unknown): string {
  const said = error instanceof Error ? /position (\d+)/.exec(error.message) : null;
  const position = said === null ? text.length : Number(said[1]);
  const near = cutText(wellFormed(text.slice(Math.max(0, position - 20), position + 20)), EXCERPT_BYTES);
  const where =
    position >= text.length
      ? `they end too early, at character ${text.length}`
      : `unexpected text at character ${position} of ${text.length}`;
  return `not run: the arguments are not valid JSON; ${where}, near ${JSON.stringify(near)}. Send the whole call again.`;
}

function kindOf(value: JsonValue): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'an array' : `a ${typeof value}`;
}

function isDeeper(value: JsonValue, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((inner) => isDeeper(inner, levels - 1));
}
