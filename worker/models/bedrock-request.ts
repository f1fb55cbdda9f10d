// Writes a Converse request: system text on top, sides that take turns, results first, tools declared whenever the
// history holds calls. Converse is one form for many models; what only some of them take is left out for the others.
import { outputCap } from '../../shared/ipc/output-room.js';
import type { JsonObject } from '../../shared/json.js';
import type { AssistantMessage, Message } from '../../shared/transcript/message.js';
import { answerForm } from './answer-schema.js';
import type { WrittenRequest } from './dialect.js';
import { claudeThinking, EFFORTS } from './efforts.js';
import type { ModelRequest } from './provider.js';
import { type Side, takingTurns } from './sides.js';
import { bodyText, isObject, resultText, textOf, wireNames } from './wire-text.js';

const CLAUDE = /anthropic|claude/i;
/** Where a thinking model is to have one and nobody says which. */
const DEFAULT_CAP = 8_192;
const CACHE: JsonObject = { cachePoint: { type: 'default' } };

interface Words {
  readonly model: string;
  readonly claude: boolean;
  readonly wireName: (name: string) => string;
}

function text(value: string): JsonObject[] {
  return value.trim() === '' ? [] : [{ text: value }];
}

/** Only signed or sealed reasoning is taken back. */
function isReturnable(block: JsonObject): boolean {
  const content = isObject(block.reasoningContent) ? block.reasoningContent : {};
  if (isObject(content.reasoningText)) return textOf(content.reasoningText.signature) !== '';
  return textOf(content.redactedContent) !== '';
}

function assistantBlocks(message: AssistantMessage, { model, wireName }: Words): JsonObject[] {
  const said: JsonObject[] = [
    ...text(message.text),
    ...message.calls.map((call) => ({
      toolUse: { toolUseId: call.call_id, name: wireName(call.name), input: call.arguments },
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

function blocksOf(message: Message, words: Words): JsonObject[] {
  switch (message.role) {
    case 'system':
      return [];
    case 'user':
      return text(message.text);
    case 'note':
      return message.text.trim() === '' ? [] : text(`[note] ${message.text}`);
    case 'assistant':
      return assistantBlocks(message, words);
    case 'tool': {
      const said = resultText(message.content);
      const failed = message.is_error;
      // Most other models refuse a status.
      const result: JsonObject = {
        toolUseId: message.call_id,
        content: [{ text: failed && !words.claude ? `ERROR: ${said}` : said }],
      };
      if (failed && words.claude) result.status = 'error';
      return [{ toolResult: result }];
    }
  }
}

/** The planned tools, and a word on those that only the history knows: calls without any declared tool are refused. */
function toolSpecs(request: ModelRequest, wireName: (name: string) => string): JsonObject[] {
  const planned = request.tools.map((tool) => ({
    toolSpec: {
      name: tool.wire_name,
      ...(tool.description.trim() === '' ? {} : { description: tool.description }),
      inputSchema: { json: tool.input_schema },
    },
  }));
  if (planned.length > 0) return planned;
  const called = request.messages.flatMap((message) =>
    message.role === 'assistant' ? message.calls.map((call) => wireName(call.name)) : [],
  );
  return [...new Set(called)].map((name) => ({
    toolSpec: {
      name,
      description: 'Was used earlier in this conversation and is not available any more.',
      inputSchema: { json: { type: 'object', properties: {} } },
    },
  }));
}

/** The newest user message, and the one before it: there the previous request ended, and its cache begins. */
function markMessages(sides: readonly Side[]): void {
  for (const side of sides.filter(({ role }) => role === 'user').slice(-2)) side.content.push({ ...CACHE });
}

function inference({ settings }: ModelRequest, omit: ReadonlySet<string>): JsonObject {
  const chosen: JsonObject = {};
  // What a Claude thinks in must be less than its cap, so that one is sent whenever it thinks.
  const least = settings.thinking_tokens === undefined ? 0 : DEFAULT_CAP;
  const cap = outputCap(settings, least);
  if (cap > 0) chosen.maxTokens = cap;
  if (settings.temperature !== null && !omit.has('temperature')) chosen.temperature = settings.temperature;
  return chosen;
}

/** What Converse has no field for goes to the model as it is. */
function ownFields(
  request: ModelRequest,
  omit: ReadonlySet<string>,
  claude: boolean,
): Map<string, JsonObject> {
  if (claude) return claudeThinking(request, omit);
  const { reasoning_effort: effort } = request.settings;
  return effort === undefined || omit.has('reasoning_effort')
    ? new Map()
    : new Map([['reasoning_effort', { reasoning_effort: EFFORTS[effort] }]]);
}

export function writeBedrock(request: ModelRequest, omit: ReadonlySet<string>): WrittenRequest {
  const { settings } = request;
  const claude = CLAUDE.test(settings.model);
  const wireName = wireNames(request.tools);
  const words: Words = { model: settings.model, claude, wireName };
  const form = answerForm(request, omit, claude);
  const standing = text(form.systemPrompt);
  const system = [...standing];
  for (const message of request.messages) if (message.role === 'system') system.push(...text(message.text));
  const messages = takingTurns(request.messages, {
    of: (message) => blocksOf(message, words),
    note: text,
    isResult: (block) => block.toolResult !== undefined,
  });
  const tools = toolSpecs(request, wireName);
  const cached = claude && !omit.has('cache_point');
  if (cached) {
    if (tools.length > 0) tools.push({ ...CACHE });
    if (standing.length > 0) system.splice(standing.length, 0, { ...CACHE });
    markMessages(messages);
  }
  const inferenceConfig = inference(request, omit);
  const own = ownFields(request, omit, claude);
  const body: JsonObject = {
    ...(system.length > 0 ? { system } : {}),
    ...(tools.length > 0 ? { toolConfig: { tools } } : {}),
    ...(Object.keys(inferenceConfig).length > 0 ? { inferenceConfig } : {}),
    ...(own.size > 0 ? { additionalModelRequestFields: Object.assign({}, ...own.values()) } : {}),
    messages: messages.map(({ role, content }) => ({ role, content })),
  };
  if (form.native !== null) {
    // The schema travels as text.
    const jsonSchema = { name: 'answer', schema: JSON.stringify(form.native) };
    body.outputConfig = { textFormat: { type: 'json_schema', structure: { jsonSchema } } };
  }
  return {
    text: bodyText(body),
    options: [
      ...('temperature' in inferenceConfig ? ['temperature'] : []),
      ...own.keys(),
      ...(form.native === null ? [] : ['response_format']),
      ...(cached ? ['cache_point'] : []),
    ],
  };
}
