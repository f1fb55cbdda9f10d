// What real providers refuse in a request, so that every test that talks to the fake notices a broken history.
import type { JsonObject } from '../../shared/json.js';
import { bedrockRules } from './bedrock-request-rules.js';
import type { FakeRequest } from './model-steps.js';
import { blank, brokenText, isObjectText, list, object, pairing, WIRE_NAME } from './request-shape.js';

const ROLES = new Set(['system', 'user', 'assistant', 'tool']);

function openaiRules(body: JsonObject): string[] {
  const messages = list(body.messages);
  const broken: string[] = [];
  const groups: { calls: string[]; results: string[] }[] = [{ calls: [], results: [] }];
  for (const message of messages) {
    const calls = list(message.tool_calls);
    if (message.role === 'tool') groups.at(-1)?.results.push(String(message.tool_call_id));
    else groups.push({ calls: calls.map((call) => String(call.id)), results: [] });
    if ('tool_calls' in message && calls.length === 0) broken.push('an empty tool_calls list');
    if (message.role !== 'assistant' && blank(message.content))
      broken.push(`an empty ${message.role} message`);
    if (message.role === 'assistant' && calls.length === 0 && blank(message.content))
      broken.push('an empty assistant message');
    for (const call of calls) {
      if (!WIRE_NAME.test(String(object(call.function).name))) broken.push('a call with a bad name');
      if (!isObjectText(object(call.function).arguments)) broken.push('arguments that are not a JSON object');
    }
  }
  for (const tool of list(body.tools))
    if (!WIRE_NAME.test(String(object(tool.function).name))) broken.push('a tool with a bad name');
  const others = messages.filter(({ role }) => role !== 'system');
  if (others[0]?.role !== 'user') broken.push(`the first message is from the ${others[0]?.role}`);
  for (const { role } of messages) if (!ROLES.has(String(role))) broken.push(`role ${role}`);
  return [...broken, ...pairing(groups)];
}

function anthropicBlockRules(message: JsonObject): string[] {
  const blocks = list(message.content);
  const broken: string[] = [];
  if (typeof message.content === 'string' ? blank(message.content) : blocks.length === 0)
    broken.push(`an empty ${message.role} message`);
  for (const block of blocks) {
    if (block.type === 'text' && blank(block.text)) broken.push('an empty text block');
    if (block.type === 'tool_use' && !WIRE_NAME.test(String(block.name)))
      broken.push('a call with a bad name');
    if (block.type === 'tool_use' && (typeof block.input !== 'object' || Array.isArray(block.input)))
      broken.push('a call whose input is not an object');
    if (block.type === 'tool_result' && blank(block.content)) broken.push('an empty tool result');
    if (block.type === 'thinking' && blank(block.signature)) broken.push('an unsigned thinking block');
  }
  const lastResult = blocks.findLastIndex((block) => block.type === 'tool_result');
  if (blocks.slice(0, lastResult + 1).some((block) => block.type !== 'tool_result'))
    broken.push('tool results must come first in their message');
  return broken;
}

function anthropicRules(request: FakeRequest): string[] {
  const { body } = request;
  const messages = list(body.messages);
  const broken = messages.flatMap(anthropicBlockRules);
  if (!Number.isInteger(body.max_tokens) || Number(body.max_tokens) < 1) broken.push('max_tokens is missing');
  if (request.headers['anthropic-version'] === undefined) broken.push('anthropic-version is missing');
  for (const [index, message] of messages.entries())
    if (message.role !== (index % 2 === 0 ? 'user' : 'assistant'))
      broken.push(`message ${index} has role ${message.role}`);
  if (messages.at(-1)?.role !== 'user') broken.push('the last message is not from the user');
  if (list(body.system).some((block) => blank(block.text))) broken.push('an empty system block');
  if (request.bodyText.split('"cache_control"').length > 5) broken.push('more than four cache markers');
  for (const tool of list(body.tools))
    if (!WIRE_NAME.test(String(tool.name))) broken.push('a tool with a bad name');
  const groups = messages.map((message, index) => ({
    calls: list(message.content)
      .filter((block) => block.type === 'tool_use')
      .map((block) => String(block.id)),
    results: list(messages[index + 1]?.content)
      .filter((block) => block.type === 'tool_result')
      .map((block) => String(block.tool_use_id)),
  }));
  return [...broken, ...pairing(groups.filter((_, index) => index % 2 === 1))];
}

const ITEM_TYPES = new Set(['message', 'reasoning', 'function_call', 'function_call_output']);

function responsesItemRules(item: JsonObject, next: JsonObject | undefined): string[] {
  const broken: string[] = [];
  if (!ITEM_TYPES.has(String(item.type))) broken.push(`an item of type ${item.type}`);
  if (item.type === 'message') {
    const part = item.role === 'assistant' ? 'output_text' : 'input_text';
    if (!['system', 'user', 'assistant'].includes(String(item.role))) broken.push(`role ${item.role}`);
    if (list(item.content).length === 0) broken.push(`an empty ${item.role} message`);
    for (const { type, text } of list(item.content))
      if (type !== part || blank(text)) broken.push(`${item.role} content of type ${type}, or empty`);
  }
  if (item.type === 'reasoning') {
    if (blank(item.encrypted_content)) broken.push('reasoning that is not stored and not sealed');
    if (!Array.isArray(item.summary)) broken.push('reasoning without a summary list');
    const follows =
      next?.type === 'reasoning' || next?.type === 'function_call' || next?.role === 'assistant';
    if (!follows) broken.push('reasoning without the item that it led to');
  }
  if (item.type === 'function_call') {
    if (!WIRE_NAME.test(String(item.name))) broken.push('a call with a bad name');
    if (!isObjectText(item.arguments)) broken.push('arguments that are not a JSON object');
  }
  if (item.type === 'function_call_output' && blank(item.output)) broken.push('an empty output');
  return broken;
}

function responsesRules(body: JsonObject): string[] {
  const items = list(body.input);
  const broken = items.flatMap((item, index) => responsesItemRules(item, items[index + 1]));
  const groups: { calls: string[]; results: string[] }[] = [{ calls: [], results: [] }];
  for (const [index, item] of items.entries()) {
    const last = groups.at(-1);
    if (item.type === 'function_call_output') last?.results.push(String(item.call_id));
    else if (item.type === 'function_call' && items[index - 1]?.type === 'function_call')
      last?.calls.push(String(item.call_id));
    else groups.push({ calls: item.type === 'function_call' ? [String(item.call_id)] : [], results: [] });
  }
  if ('messages' in body) broken.push('messages belong to another dialect');
  if ('max_output_tokens' in body && Number(body.max_output_tokens) < 16) broken.push('a cap below 16');
  if ('instructions' in body && blank(body.instructions)) broken.push('empty instructions');
  for (const tool of list(body.tools))
    if (tool.type !== 'function' || !WIRE_NAME.test(String(tool.name))) broken.push('a tool with a bad name');
  return [...broken, ...pairing(groups)];
}

/** Fields of a request that its dialect cannot do without. */
function generalRules({ body, dialect }: FakeRequest): string[] {
  const broken: string[] = [];
  const history = dialect === 'openai_responses' ? body.input : body.messages;
  if (dialect !== 'bedrock' && (typeof body.model !== 'string' || body.model === ''))
    broken.push('no model is named');
  if (list(history).length === 0) broken.push('there are no messages');
  if (brokenText(body)) broken.push('text is not well-formed or holds NUL');
  return broken;
}

/** Providers refuse two tools of one name. */
function repeatedNames({ tools, toolConfig }: JsonObject): string[] {
  const names = [...list(tools), ...list(object(toolConfig).tools)].map((tool) =>
    String(tool.name ?? object(tool.function).name ?? object(tool.toolSpec).name ?? ''),
  );
  return names
    .filter((name, index) => name !== '' && names.indexOf(name) !== index)
    .map((name) => `two tools are called ${name}`);
}

function ownRules(request: FakeRequest): string[] {
  switch (request.dialect) {
    case 'openai':
      return openaiRules(request.body);
    case 'openai_responses':
      return responsesRules(request.body);
    case 'anthropic':
      return anthropicRules(request);
    case 'bedrock':
      return bedrockRules(request);
  }
}

/** Sentences about what a provider would refuse; none when the request is fine. */
export function brokenRules(request: FakeRequest): string[] {
  return [...generalRules(request), ...repeatedNames(request.body), ...ownRules(request)];
}
