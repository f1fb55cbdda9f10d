// What Bedrock's Converse refuses: how it wants blocks, sides, tools and the signature.
import type { JsonObject } from '../../shared/json.js';
import type { FakeRequest } from './model-steps.js';
import { blank, list, object, pairing, WIRE_NAME } from './request-shape.js';

const SIGNED =
  /^AWS4-HMAC-SHA256 Credential=[^/]+\/\d{8}\/[a-z0-9-]+\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date(?:;x-amz-security-token)?, Signature=[0-9a-f]{64}$/;
const FIELDS = new Set([
  'system',
  'messages',
  'toolConfig',
  'inferenceConfig',
  'outputConfig',
  'additionalModelRequestFields',
]);
const BLOCKS = new Set(['text', 'toolUse', 'toolResult', 'reasoningContent', 'cachePoint']);

function isPlain(value: unknown): boolean {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function blockRules(block: JsonObject, role: unknown): string[] {
  const broken: string[] = [];
  const keys = Object.keys(block);
  const [key = ''] = keys;
  if (keys.length !== 1 || !BLOCKS.has(key)) broken.push(`a block with the fields ${keys.join(', ')}`);
  if (key === 'text' && blank(block.text)) broken.push('an empty text block');
  if ((key === 'toolUse' || key === 'reasoningContent') !== (role === 'assistant') && key !== 'text')
    if (key !== 'cachePoint') broken.push(`${key} in a message of the ${role}`);
  if (key === 'toolUse') {
    const { name, input } = object(block.toolUse);
    if (!WIRE_NAME.test(String(name))) broken.push('a call with a bad name');
    if (!isPlain(input)) broken.push('a call whose input is not an object');
  }
  if (key === 'toolResult') {
    const content = list(object(block.toolResult).content);
    if (content.length === 0 || content.some(({ text }) => blank(text))) broken.push('an empty tool result');
  }
  if (key === 'reasoningContent') {
    const { reasoningText, redactedContent } = object(block.reasoningContent);
    if (blank(object(reasoningText).signature) && blank(redactedContent)) broken.push('unsigned reasoning');
  }
  return broken;
}

function messageRules(message: JsonObject, index: number): string[] {
  const blocks = list(message.content);
  const broken = blocks.flatMap((block) => blockRules(block, message.role));
  if (message.role !== (index % 2 === 0 ? 'user' : 'assistant'))
    broken.push(`message ${index} has role ${message.role}`);
  if (blocks.length === 0 || 'cachePoint' in (blocks[0] ?? {}))
    broken.push(`an empty ${message.role} message`);
  const lastResult = blocks.findLastIndex((block) => block.toolResult !== undefined);
  if (blocks.slice(0, lastResult + 1).some((block) => block.toolResult === undefined))
    broken.push('tool results must come first in their message');
  return broken;
}

function toolRules(body: JsonObject): string[] {
  const broken: string[] = [];
  const tools = list(object(body.toolConfig).tools);
  if ('toolConfig' in body && tools.length === 0) broken.push('an empty tool configuration');
  if (!('toolConfig' in body) && /"tool(?:Use|Result)":/.test(JSON.stringify(body.messages)))
    broken.push('calls in the history without a tool configuration');
  for (const tool of tools) {
    if ('cachePoint' in tool) continue;
    const { name, description, inputSchema } = object(tool.toolSpec);
    if (!WIRE_NAME.test(String(name))) broken.push('a tool with a bad name');
    if (description !== undefined && blank(description)) broken.push('a tool with an empty description');
    if (!isPlain(object(inputSchema).json)) broken.push('a tool without a schema');
  }
  return broken;
}

function headRules({ headers, path, body, bodyText }: FakeRequest): string[] {
  const broken = Object.keys(body)
    .filter((field) => !FIELDS.has(field))
    .map((field) => `an unknown field ${field}`);
  const authorization = String(headers.authorization ?? '');
  if (!SIGNED.test(authorization) && !/^Bearer \S+$/.test(authorization)) broken.push('no signature');
  if (!authorization.startsWith('Bearer') && !/^\d{8}T\d{6}Z$/.test(String(headers['x-amz-date'] ?? '')))
    broken.push('no time of signing');
  if (!/^\/model\/[A-Za-z0-9._~%-]{1,2048}\/converse-stream$/.test(path)) broken.push(`the path ${path}`);
  if (bodyText.split('"cachePoint"').length > 5) broken.push('more than four cache points');
  return broken;
}

export function bedrockRules(request: FakeRequest): string[] {
  const { body } = request;
  const messages = list(body.messages);
  const groups = messages.map((message, index) => ({
    calls: list(message.content)
      .filter((block) => block.toolUse !== undefined)
      .map((block) => String(object(block.toolUse).toolUseId)),
    results: list(messages[index + 1]?.content)
      .filter((block) => block.toolResult !== undefined)
      .map((block) => String(object(block.toolResult).toolUseId)),
  }));
  const broken = [...headRules(request), ...messages.flatMap(messageRules), ...toolRules(body)];
  if (messages.at(-1)?.role !== 'user') broken.push('the last message is not from the user');
  if (list(body.system).some((block) => !('cachePoint' in block) && blank(block.text)))
    broken.push('an empty system block');
  const { maxTokens } = object(body.inferenceConfig);
  if (maxTokens !== undefined && Number(maxTokens) < 1) broken.push('maxTokens below 1');
  const { budget_tokens: budget } = object(object(body.additionalModelRequestFields).thinking);
  if (budget !== undefined && !(Number(budget) < Number(maxTokens)))
    broken.push('no room beside the thinking');
  return [...broken, ...pairing(groups.filter((_, index) => index % 2 === 1))];
}
