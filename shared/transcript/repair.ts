// Makes any history one that providers accept: every call has exactly one result right behind its message, in order of
// the calls; no empty text; no half characters; unique ids. Runs on the way in and again on the way out, so a history
// that was stored badly heals instead of failing each later request. Applying it twice changes nothing.
import type { JsonObject, JsonValue } from '../json.js';
import type { AssistantMessage, Message, ToolCall, ToolMessage } from './message.js';
import { mapJsonText, sendableText } from './unicode.js';

const MISSING_RESULT = { error: 'interrupted, effect unknown' };
const NO_OUTPUT = '(no output)';
const EMPTY_USER = '(empty message)';
const CUT_BEGINNING = '[note] The beginning of this conversation is not shown.';

/** What every provider takes as the id of a call. */
const CALL_ID = /^[A-Za-z0-9_-]{1,64}$/;

/** A call of the history and the result that was found for it. */
interface Slot {
  readonly call: ToolCall;
  result: ToolMessage | null;
}

export function repairHistory(messages: readonly Message[]): Message[] {
  const slots = pairUp(messages, freshIds(messages));
  const repaired: Message[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') continue;
    if (message.role === 'assistant') repaired.push(...assistantWithResults(message, slots.get(index) ?? []));
    else pushText(repaired, message);
  }
  return withBeginning(repaired);
}

/** Finds each call's result, by the index of its message; of several the first one counts, and a result without a call before it is left out. */
function pairUp(messages: readonly Message[], idFor: (call: ToolCall) => string): Map<number, Slot[]> {
  const slots = new Map<number, Slot[]>();
  const open = new Map<string, Slot[][]>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'assistant') {
      const own = message.calls.map((call): Slot => ({ call: repairCall(call, idFor(call)), result: null }));
      slots.set(index, own);
      for (const [id, group] of groupById(message.calls, own)) {
        const groups = open.get(id);
        if (groups === undefined) open.set(id, [group]);
        else groups.push(group);
      }
    } else if (message.role === 'tool') {
      // The nearest message before it is the one it most likely answers, when an id was used more than once.
      const waiting = open
        .get(message.call_id)
        ?.findLast((group) => group.some((slot) => slot.result === null));
      const slot = waiting?.find((candidate) => candidate.result === null);
      if (slot !== undefined) slot.result = message;
    }
  }
  return slots;
}

function groupById(calls: readonly ToolCall[], slots: readonly Slot[]): Map<string, Slot[]> {
  const groups = new Map<string, Slot[]>();
  for (const [index, call] of calls.entries()) {
    const slot = slots[index];
    if (slot === undefined) continue;
    const group = groups.get(call.call_id);
    if (group === undefined) groups.set(call.call_id, [slot]);
    else group.push(slot);
  }
  return groups;
}

/** Keeps the first use of a valid id; gives every other call an id that nothing in the history has. */
function freshIds(messages: readonly Message[]): (call: ToolCall) => string {
  const known = new Set<string>();
  for (const message of messages)
    if (message.role === 'assistant') for (const call of message.calls) known.add(call.call_id);
  const taken = new Set<string>();
  let next = 1;
  return (call) => {
    if (CALL_ID.test(call.call_id) && !taken.has(call.call_id)) {
      taken.add(call.call_id);
      return call.call_id;
    }
    while (known.has(`call_r${next}`)) next += 1;
    const id = `call_r${next}`;
    next += 1;
    return id;
  };
}

function repairCall(call: ToolCall, callId: string): ToolCall {
  const args = repairArguments(call.arguments);
  const name = sendableText(call.name).trim() === '' ? 'unknown' : sendableText(call.name);
  if (callId === call.call_id && args === call.arguments && name === call.name) return call;
  return { call_id: callId, name, arguments: args };
}

function repairArguments(args: JsonValue | undefined): JsonObject {
  if (typeof args !== 'object' || args === null || Array.isArray(args)) return {};
  return mapJsonText(args, sendableText) as JsonObject;
}

function assistantWithResults(message: AssistantMessage, slots: readonly Slot[]): Message[] {
  const sendable = sendableText(message.text);
  const text = sendable.trim() === '' ? '' : sendable;
  if (text === '' && slots.length === 0) return [];
  const calls = slots.map((slot) => slot.call);
  const unchanged = text === message.text && calls.every((call, index) => call === message.calls[index]);
  return [unchanged ? message : { ...message, text, calls }, ...slots.map(resultOf)];
}

function resultOf(slot: Slot): ToolMessage {
  const { call, result } = slot;
  if (result === null)
    return { role: 'tool', call_id: call.call_id, name: call.name, content: MISSING_RESULT, is_error: true };
  const content = repairContent(result.content);
  if (content === result.content && result.call_id === call.call_id && result.name === call.name)
    return result;
  return { ...result, call_id: call.call_id, name: call.name, content };
}

function repairContent(content: JsonValue | undefined): JsonValue {
  if (content === undefined) return NO_OUTPUT;
  const sendable = mapJsonText(content, sendableText);
  return typeof sendable === 'string' && sendable.trim() === '' ? NO_OUTPUT : sendable;
}

function pushText(into: Message[], message: Exclude<Message, { role: 'assistant' | 'tool' }>): void {
  const text = sendableText(message.text);
  if (text.trim() !== '') into.push(text === message.text ? message : { ...message, text });
  else if (message.role === 'user') into.push({ role: 'user', text: EMPTY_USER });
}

/** A conversation begins with a person; where its beginning was cut away, a line of ours stands in. */
function withBeginning(messages: Message[]): Message[] {
  const first = messages.findIndex((message) => message.role !== 'system' && message.role !== 'note');
  if (first >= 0 && messages[first]?.role === 'assistant')
    messages.splice(first, 0, { role: 'user', text: CUT_BEGINNING });
  return messages;
}
