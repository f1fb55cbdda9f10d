// Writes a request in the responses dialect: a flat list of items, sealed reasoning handed back before what it led to,
// and nothing stored at the provider. History arrives repaired; this only changes its form.
import { outputCap } from '../../shared/ipc/output-room.js';
import type { JsonObject } from '../../shared/json.js';
import type { AssistantMessage, Message } from '../../shared/transcript/message.js';
import { answerForm, fitsStrict } from './answer-schema.js';
import type { WrittenRequest } from './dialect.js';
import { EFFORTS } from './efforts.js';
import type { ModelRequest } from './provider.js';
import { bodyText, isObject, resultText, textOf, wireNames } from './wire-text.js';

/** The least cap that the provider takes. */
const CAP_MIN = 16;
/** Models that do not reason, and refuse to seal what they do not have. */
const PLAIN = /(?:^|\/)(?:gpt-[34]|chatgpt-4)/;

function said(role: 'system' | 'user' | 'assistant', text: string): JsonObject[] {
  if (text.trim() === '') return [];
  const type = role === 'assistant' ? 'output_text' : 'input_text';
  return [{ type: 'message', role, content: [{ type, text }] }];
}

/** Only sealed reasoning can be read again by a provider that stores nothing. */
function isReturnable(item: JsonObject): boolean {
  return item.type === 'reasoning' && textOf(item.encrypted_content) !== '';
}

function assistantItems(
  message: AssistantMessage,
  model: string,
  wireName: (name: string) => string,
): JsonObject[] {
  const items = [
    ...said('assistant', message.text),
    ...message.calls.map((call) => ({
      type: 'function_call',
      call_id: call.call_id,
      name: wireName(call.name),
      arguments: JSON.stringify(call.arguments),
    })),
  ];
  // Reasoning that leads to nothing is refused.
  if (items.length === 0) return [];
  const thought = (message.reasoning ?? [])
    .filter((part) => part.model === model)
    .map((part) => part.data)
    .filter(isObject)
    .filter(isReturnable);
  return [...thought, ...items];
}

function itemsOf(message: Message, model: string, wireName: (name: string) => string): JsonObject[] {
  switch (message.role) {
    case 'system':
    case 'user':
      return said(message.role, message.text);
    case 'note':
      return message.text.trim() === '' ? [] : said('system', `[note] ${message.text}`);
    case 'assistant':
      return assistantItems(message, model, wireName);
    case 'tool':
      return [
        {
          type: 'function_call_output',
          call_id: message.call_id,
          output: `${message.is_error ? 'ERROR: ' : ''}${resultText(message.content)}`,
        },
      ];
  }
}

/** What may be left out, by the names under which it is remembered; each with the fields that it stands for. */
function options(
  { settings }: ModelRequest,
  omit: ReadonlySet<string>,
  schema: JsonObject | null,
): Map<string, JsonObject> {
  const chosen = new Map<string, JsonObject>([['store', { store: false }]]);
  if (!PLAIN.test(settings.model)) chosen.set('include', { include: ['reasoning.encrypted_content'] });
  if (settings.temperature !== null) chosen.set('temperature', { temperature: settings.temperature });
  const cap = outputCap(settings);
  if (cap > 0) chosen.set('max_output_tokens', { max_output_tokens: Math.max(CAP_MIN, cap) });
  if (settings.reasoning_effort !== undefined)
    chosen.set('reasoning', { reasoning: { effort: EFFORTS[settings.reasoning_effort] } });
  if (schema !== null) {
    const format = { type: 'json_schema', name: 'answer', schema, strict: fitsStrict(schema) };
    chosen.set('response_format', { text: { format } });
  }
  for (const name of omit) chosen.delete(name);
  return chosen;
}

export function writeResponses(request: ModelRequest, omit: ReadonlySet<string>): WrittenRequest {
  const { settings } = request;
  const wireName = wireNames(request.tools);
  const form = answerForm(request, omit, true);
  const chosen = options(request, omit, form.native);
  const body: JsonObject = {
    model: settings.model,
    stream: true,
    ...(form.systemPrompt.trim() === '' ? {} : { instructions: form.systemPrompt }),
    ...Object.assign({}, ...chosen.values()),
  };
  if (request.tools.length > 0)
    body.tools = request.tools.map((tool) => ({
      type: 'function',
      name: tool.wire_name,
      description: tool.description,
      parameters: tool.input_schema,
      // Strict tools demand closed schemas without optional fields; ours have them.
      strict: false,
    }));
  body.input = request.messages.flatMap((message) => itemsOf(message, settings.model, wireName));
  return { text: bodyText(body), options: [...chosen.keys()] };
}
