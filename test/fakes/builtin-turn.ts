// Plays a whole turn of the built-in model in process: its calls go to the executors of the worker on real folders,
// their results back into the history, round by round, as the turn loop does it.
import * as v from 'valibot';
import { systemClock } from '../../shared/clock.js';
import type { JsonObject } from '../../shared/json.js';
import { CATALOGUE, toolSpec } from '../../shared/tools/catalogue.js';
import type { PlannedTool } from '../../shared/tools/tool-plan.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import { wireNames } from '../../shared/tools/wire-names.js';
import type { Message, ToolCall } from '../../shared/transcript/message.js';
import { builtinProvider } from '../../worker/models/builtin/provider.js';
import type { ModelAnswer, ModelRequest } from '../../worker/models/provider.js';
import type { ToolContext } from '../../worker/tools/executor.js';
import { EXECUTORS } from '../../worker/tools/registry.js';
import { MODEL } from './turn-frame.js';

export interface PlayOptions {
  /** Names of tools that this turn does not have. */
  readonly without?: readonly string[];
  /** Stands before the executors: a result of its own for calls that it wants. */
  readonly intercept?: (tool: string, args: JsonObject) => ToolResult | null;
  /** Messages before the request. */
  readonly before?: readonly Message[];
}

export interface Played {
  readonly reply: string;
  readonly calls: readonly { readonly tool: string; readonly arguments: JsonObject }[];
  readonly rounds: number;
  readonly answers: readonly ModelAnswer[];
  readonly streamed: string;
}

const MOST_ROUNDS = 50;

export function toolsOfTurn(without: readonly string[] = []): PlannedTool[] {
  const names = wireNames(CATALOGUE.map((spec) => spec.name));
  return CATALOGUE.filter((spec) => !without.includes(spec.name)).map((spec) => ({
    name: spec.name,
    wire_name: names.get(spec.name) ?? spec.name,
    description: spec.description,
    input_schema: {},
    runs: spec.runs,
    read_only: spec.readOnly,
    polls: spec.polls ?? false,
  }));
}

export function requestOf(messages: readonly Message[], tools: readonly PlannedTool[]): ModelRequest {
  return {
    settings: MODEL,
    credentials: { headers: {}, mask: [] },
    system_prompt: 'You are a test.',
    messages,
    tools,
    deadline_ms: 60_000,
  };
}

export async function playBuiltin(
  text: string,
  context: ToolContext,
  options: PlayOptions = {},
): Promise<Played> {
  const provider = builtinProvider(systemClock);
  const tools = toolsOfTurn(options.without);
  const messages: Message[] = [...(options.before ?? []), { role: 'user', text }];
  const calls: { tool: string; arguments: JsonObject }[] = [];
  const answers: ModelAnswer[] = [];
  let streamed = '';
  for (let round = 1; round <= MOST_ROUNDS; round += 1) {
    const outcome = await provider.call(
      requestOf(messages, tools),
      (event) => {
        if (event.kind === 'text') streamed += event.text;
      },
      new AbortController().signal,
    );
    if (outcome.kind !== 'answer') throw new TypeError(`the provider gave ${outcome.kind}`);
    const { answer } = outcome;
    answers.push(answer);
    if (answer.calls.length === 0) return { reply: answer.text, calls, rounds: round, answers, streamed };
    const made = answer.calls.map((call, index): ToolCall => {
      const tool = tools.find((one) => one.wire_name === call.wire_name);
      return {
        call_id: `call_${round}_${index}`,
        name: tool?.name ?? call.wire_name,
        arguments: JSON.parse(call.arguments_text) as JsonObject,
      };
    });
    messages.push({ role: 'assistant', text: answer.text, calls: made });
    for (const call of made) {
      calls.push({ tool: call.name, arguments: call.arguments });
      const result = options.intercept?.(call.name, call.arguments) ?? (await execute(call, context));
      messages.push({
        role: 'tool',
        call_id: call.call_id,
        name: call.name,
        content: result.content,
        is_error: result.is_error,
      });
    }
  }
  throw new TypeError(`no answer after ${MOST_ROUNDS} rounds`);
}

/** Arguments go through the tool's own definition, as in the supervisor: wrong ones fail the test. */
async function execute(call: ToolCall, context: ToolContext): Promise<ToolResult> {
  const executor = EXECUTORS[call.name];
  const spec = toolSpec(call.name);
  if (executor === undefined || spec === undefined) return toolError(`no tool ${call.name}`);
  return executor(v.parse(spec.params, call.arguments) as JsonObject, context);
}
