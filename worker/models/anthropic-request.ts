// Writes a request in the messages dialect: system text on top, strict alternation, results first in the user message
// right after their calls, at most four cache markers.
import { outputCap } from '../../shared/ipc/output-room.js';
import type { JsonObject } from '../../shared/json.js';
import type { AssistantMessage, Message } from '../../shared/transcript/message.js';
import { answerForm } from './answer-schema.js';
import type { WrittenRequest } from './dialect.js';
import { claudeThinking } from './efforts.js';
import type { ModelRequest } from './provider.js';
import { type Side, takingTurns } from './sides.js';
import { bodyText, isObject, resultText, textOf, wireNames } from './wire-text.js';

/** The dialect demands a cap; this is sent where the settings leave it to the provider. */
const DEFAULT_CAP = 8_192;
const CACHE: JsonObject = { type: 'ephemeral' };

function text(value: string): JsonObject[] {
  return value.trim() === '' ? [] : [{ type: 'text', text: value }];
}

/** Only whole blocks come back: signed thinking, or thinking that the provider sealed itself. */
function isReturnable(block: JsonObject): boolean {
  if (block.type === 'thinking') return textOf(block.signature) !== '';
  return block.type === 'redacted_thinking' && textOf(block.data) !== '';
}

function assistantBlocks(
  message: AssistantMessage,
  model: string,
  wireName: (name: string) => string,
): JsonObject[] {
  const said: JsonObject[] = [
    ...text(message.text),
    ...message.calls.map((call) => ({
      type: 'tool_use',
      id: call.call_id,
      name: wireName(call.name),
      input: call.arguments,
    })),
  ];
  if (said.length === 0) return [];
  const thought = (message.reasoning ?? [])
    .filter((part) => part.model === model)
    .map((part) => part.data)
    .filter(isObject)
    .filter(isReturnable);
  return [...thought, ...said];
}

function blocksOf(message: Message, model: string, wireName: (name: string) => string): JsonObject[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return text(message.text);
    case 'note':
      return message.text.trim() === '' ? [] : text(`[note] ${message.text}`);
    case 'assistant':
      return assistantBlocks(message, model, wireName);
    case 'tool': {
      const result: JsonObject = {
        type: 'tool_result',
        tool_use_id: message.call_id,
        content: resultText(message.content),
      };
      if (message.is_error) result.is_error = true;
      return [result];
    }
  }
}

function mark(block: JsonObject | undefined): void {
  if (block !== undefined) block.cache_control = CACHE;
}

/** The newest user message, and the one before it: there the previous request ended, and its cache begins. */
function markMessages(sides: readonly Side[]): void {
  const users = sides.filter((side) => side.role === 'user');
  mark(users.at(-1)?.content.at(-1));
  mark(users.at(-2)?.content.at(-1));
}

export function writeAnthropic(request: ModelRequest, omit: ReadonlySet<string>): WrittenRequest {
  const { settings } = request;
  const form = answerForm(request, omit, true);
  const system = text(form.systemPrompt);
  const standing = system.at(-1);
  for (const message of request.messages) if (message.role === 'system') system.push(...text(message.text));
  const wireName = wireNames(request.tools);
  const sides = takingTurns(request.messages, {
    of: (message) => blocksOf(message, settings.model, wireName),
    note: text,
    isResult: (block) => block.type === 'tool_result',
  });
  const tools: JsonObject[] = request.tools.map((tool) => ({
    name: tool.wire_name,
    description: tool.description,
    input_schema: tool.input_schema,
  }));
  const chosen: JsonObject = {};
  if (settings.temperature !== null) chosen.temperature = settings.temperature;
  if (omit.has('temperature')) delete chosen.temperature;
  const thinking = claudeThinking(request, omit);
  Object.assign(chosen, ...thinking.values());
  if (form.native !== null)
    chosen.output_config = {
      ...(isObject(chosen.output_config) ? chosen.output_config : {}),
      format: { type: 'json_schema', schema: form.native },
    };
  const cached = !omit.has('cache_control');
  if (cached) {
    mark(tools.at(-1));
    mark(standing);
    markMessages(sides);
  }
  const body: JsonObject = {
    model: settings.model,
    max_tokens: outputCap(settings, DEFAULT_CAP),
    stream: true,
    ...(system.length > 0 ? { system } : {}),
    ...(tools.length > 0 ? { tools } : {}),
    ...chosen,
    messages: sides.map(({ role, content }) => ({ role, content })),
  };
  return {
    text: bodyText(body),
    options: [
      ...('temperature' in chosen ? ['temperature'] : []),
      ...thinking.keys(),
      ...(form.native === null ? [] : ['response_format']),
      ...(cached ? ['cache_control'] : []),
    ],
  };
}
