// What real providers refuse in a request, so that every test that talks to the fake notices a broken history.
import type { JsonObject, JsonValue } from '../../shared/json.js';
import type { FakeRequest } from './model-steps.js';

const WIRE_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const CALL_ID = /^[A-Za-z0-9_-]{1,64}$/;
/** Matches half of a surrogate pair only. */
const LONE_SURROGATE = /\p{Surrogate}/u;

function object(value: JsonValue | undefined): JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : {};
}

function list(value: JsonValue | undefined): JsonObject[] {
  return Array.isArray(value) ? value.map(object) : [];
}

function blank(value: JsonValue | undefined): boolean {
  return typeof value !== 'string' || value.trim() === '';
}

function isObjectText(value: JsonValue | undefined): boolean {
  try {
    const parsed: unknown = JSON.parse(String(value));
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}

function brokenText(value: JsonValue): boolean {
  if (typeof value === 'string') return LONE_SURROGATE.test(value) || value.includes('\0');
  if (typeof value !== 'object' || value === null) return false;
  return Object.entries(value).some(([key, inner]) => brokenText(key) || brokenText(inner));
}

/** Calls and results must pair up one to one, the results right after the message that made the calls. */
function pairing(groups: readonly { calls: string[]; results: string[] }[]): string[] {
  const broken: string[] = [];
  const seen = new Set<string>();
  for (const { calls, results } of groups) {
    for (const id of calls) {
      if (!CALL_ID.test(id) || seen.has(id))
        broken.push(`call id ${JSON.stringify(id)} is empty, used twice or not of the allowed characters`);
      seen.add(id);
      const count = results.filter((each) => each === id).length;
      if (count !== 1) broken.push(`call ${id} has ${count} results right after it`);
    }
    for (const id of results) if (!calls.includes(id)) broken.push(`result ${id} has no call before it`);
  }
  return broken;
}

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

/** Sentences about what a provider would refuse; none when the request is fine. */
export function brokenRules(request: FakeRequest): string[] {
  const { body } = request;
  const broken: string[] = [];
  if (typeof body.model !== 'string' || body.model === '') broken.push('no model is named');
  if (list(body.messages).length === 0) broken.push('there are no messages');
  if (brokenText(body)) broken.push('text is not well-formed or holds NUL');
  return [...broken, ...(request.dialect === 'openai' ? openaiRules(body) : anthropicRules(request))];
}
