// Writes a request in the chat-completions dialect. History arrives repaired; this only changes its form.
import { outputCap } from '../../shared/ipc/output-room.js';
import type { JsonObject } from '../../shared/json.js';
import type { AssistantMessage, Message } from '../../shared/transcript/message.js';
import { answerForm, fitsStrict } from './answer-schema.js';
import type { WrittenRequest } from './dialect.js';
import { EFFORTS } from './efforts.js';
import type { ModelRequest } from './provider.js';
import { bodyText, isObject, resultText, textOf, wireNames } from './wire-text.js';

/** Models that take `max_completion_tokens` and refuse its older name. */
const NEWER_CAP = /(?:^|\/)(?:gpt-5|o[134](?![a-z0-9]))/;

function reasoningOf(message: AssistantMessage, model: string): string {
  return (message.reasoning ?? [])
    .filter((part) => part.model === model && isObject(part.data))
    .map((part) => (isObject(part.data) ? textOf(part.data.reasoning_content) : ''))
    .join('');
}

function assistant(
  message: AssistantMessage,
  wireName: (name: string) => string,
  reasoning: string,
): JsonObject | null {
  const blank = message.text.trim() === '';
  if (blank && message.calls.length === 0) return null;
  const written: JsonObject = { role: 'assistant', content: blank ? null : message.text };
  if (reasoning !== '') written.reasoning_content = reasoning;
  if (message.calls.length > 0)
    written.tool_calls = message.calls.map((call) => ({
      id: call.call_id,
      type: 'function',
      function: { name: wireName(call.name), arguments: JSON.stringify(call.arguments) },
    }));
  return written;
}

function plain(role: string, text: string): JsonObject | null {
  return text.trim() === '' ? null : { role, content: text };
}

function written(message: Message, wireName: (name: string) => string, reasoning: string): JsonObject | null {
  switch (message.role) {
    case 'system':
    case 'user':
      return plain(message.role, message.text);
    case 'note':
      return message.text.trim() === '' ? null : plain('system', `[note] ${message.text}`);
    case 'assistant':
      return assistant(message, wireName, reasoning);
    case 'tool':
      return {
        role: 'tool',
        tool_call_id: message.call_id,
        content: `${message.is_error ? 'ERROR: ' : ''}${resultText(message.content)}`,
      };
  }
}

function cap(request: ModelRequest, omit: ReadonlySet<string>): string | null {
  if (outputCap(request.settings) === 0) return null;
  const newer = NEWER_CAP.test(request.settings.model);
  const names = newer ? ['max_completion_tokens', 'max_tokens'] : ['max_tokens', 'max_completion_tokens'];
  return names.find((name) => !omit.has(name)) ?? null;
}

function options(request: ModelRequest, omit: ReadonlySet<string>, schema: JsonObject | null): JsonObject {
  const { settings } = request;
  const chosen: JsonObject = { stream_options: { include_usage: true } };
  if (settings.temperature !== null) chosen.temperature = settings.temperature;
  const capName = cap(request, omit);
  if (capName !== null) chosen[capName] = outputCap(settings);
  if (settings.reasoning_effort !== undefined) chosen.reasoning_effort = EFFORTS[settings.reasoning_effort];
  if (schema !== null)
    chosen.response_format = {
      type: 'json_schema',
      json_schema: { name: 'answer', schema, strict: fitsStrict(schema) },
    };
  for (const name of omit) delete chosen[name];
  return chosen;
}

export function writeOpenai(request: ModelRequest, omit: ReadonlySet<string>): WrittenRequest {
  const { settings } = request;
  const wireName = wireNames(request.tools);
  const messages: JsonObject[] = [];
  let echoed = false;
  const form = answerForm(request, omit, true);
  const system = plain('system', form.systemPrompt);
  if (system !== null) messages.push(system);
  for (const message of request.messages) {
    const reasoning =
      message.role === 'assistant' && !omit.has('reasoning_content')
        ? reasoningOf(message, settings.model)
        : '';
    const next = written(message, wireName, reasoning);
    if (next !== null) messages.push(next);
    echoed ||= reasoning !== '';
  }
  const chosen = options(request, omit, form.native);
  const body: JsonObject = { model: settings.model, stream: true, messages, ...chosen };
  if (request.tools.length > 0)
    body.tools = request.tools.map((tool) => ({
      type: 'function',
      function: { name: tool.wire_name, description: tool.description, parameters: tool.input_schema },
    }));
  return {
    text: bodyText(body),
    options: [...Object.keys(chosen), ...(echoed ? ['reasoning_content'] : [])],
  };
}
