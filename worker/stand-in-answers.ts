// What the stand-in model of a rehearsal says: a call of the given tool, or a text, in the words of each dialect.
import type { Dialect } from '../shared/ipc/turn-snapshot.js';

export type HttpDialect = Exclude<Dialect, 'builtin'>;

type Answer = (tool: string | null) => Buffer;

const ARGUMENTS = '{"path":"."}';

function whole(events: readonly string[]): Buffer {
  return Buffer.from(events.join(''));
}

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function openai(delta: object, finish: string | null): string {
  return `data: ${JSON.stringify({ model: 'rehearsal', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

function openaiAnswer(tool: string | null): Buffer {
  const call = {
    index: 0,
    id: 'rehearsal',
    type: 'function',
    function: { name: tool, arguments: ARGUMENTS },
  };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return whole([
    openai({ role: 'assistant', content: '' }, null),
    openai({ content: 'rehearsal' }, null),
    tool === null ? '' : openai({ tool_calls: [call] }, null),
    openai({}, tool === null ? 'stop' : 'tool_calls'),
    `data: ${JSON.stringify({ choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ]);
}

function block(index: number, start: object, delta: object): string {
  return (
    event('content_block_start', { index, content_block: start }) +
    event('content_block_delta', { index, delta }) +
    event('content_block_stop', { index })
  );
}

function anthropicAnswer(tool: string | null): Buffer {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const call = { type: 'tool_use', id: 'rehearsal', name: tool, input: {} };
  return whole([
    event('message_start', { message: { model: 'rehearsal', usage } }),
    block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'rehearsal' }),
    tool === null ? '' : block(1, call, { type: 'input_json_delta', partial_json: ARGUMENTS }),
    event('message_delta', { delta: { stop_reason: tool === null ? 'end_turn' : 'tool_use' }, usage }),
    event('message_stop', {}),
  ]);
}

function responsesAnswer(tool: string | null): Buffer {
  const response = { model: 'rehearsal', usage: { input_tokens: 1, output_tokens: 1 } };
  const call = { type: 'function_call', id: 'fc', call_id: 'rehearsal', name: tool, arguments: '' };
  const done = { ...call, arguments: ARGUMENTS };
  return whole([
    event('response.created', { response: { model: 'rehearsal' } }),
    event('response.output_item.added', { output_index: 0, item: { type: 'message', id: 'msg' } }),
    event('response.output_text.delta', { output_index: 0, item_id: 'msg', delta: 'rehearsal' }),
    ...(tool === null
      ? []
      : [
          event('response.output_item.added', { output_index: 1, item: call }),
          event('response.function_call_arguments.delta', { output_index: 1, delta: ARGUMENTS }),
          event('response.output_item.done', { output_index: 1, item: done }),
        ]),
    event('response.completed', { response }),
  ]);
}

async function bedrockAnswer(): Promise<Answer> {
  const { modelEvent } = await import('./models/event-stream-message.js');
  return (tool) => {
    const say = (name: string, fields: object): Buffer => modelEvent(name, JSON.stringify(fields));
    const start = { toolUse: { toolUseId: 'rehearsal', name: tool } };
    return Buffer.concat([
      say('messageStart', { role: 'assistant' }),
      say('contentBlockDelta', { contentBlockIndex: 0, delta: { text: 'rehearsal' } }),
      say('contentBlockStop', { contentBlockIndex: 0 }),
      ...(tool === null
        ? []
        : [
            say('contentBlockStart', { contentBlockIndex: 1, start }),
            say('contentBlockDelta', { contentBlockIndex: 1, delta: { toolUse: { input: ARGUMENTS } } }),
            say('contentBlockStop', { contentBlockIndex: 1 }),
          ]),
      say('messageStop', { stopReason: tool === null ? 'end_turn' : 'tool_use' }),
      say('metadata', { usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }),
    ]);
  };
}

/** Null asks for the text, a name for a call of that tool. */
export async function cannedAnswers(dialect: HttpDialect): Promise<Answer> {
  switch (dialect) {
    case 'openai':
      return openaiAnswer;
    case 'openai_responses':
      return responsesAnswer;
    case 'anthropic':
      return anthropicAnswer;
    case 'bedrock':
      return bedrockAnswer();
  }
}
