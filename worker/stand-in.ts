// A model endpoint that lives in this process for the length of a rehearsal: a bare socket on the loopback address that
// answers every request with canned bytes, first a tool call, then a text, in the words of the dialect.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import type { Dialect } from '../shared/ipc/turn-snapshot.js';

export interface StandIn {
  readonly url: string;
  close(): void;
}

type HttpDialect = Exclude<Dialect, 'builtin'>;

function event(type: string, fields: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function openai(delta: object, finish: string | null): string {
  return `data: ${JSON.stringify({ model: 'rehearsal', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
}

function openaiAnswer(tool: string | null): string {
  const call = {
    index: 0,
    id: 'rehearsal',
    type: 'function',
    function: { name: tool, arguments: '{"path":"."}' },
  };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  return [
    openai({ role: 'assistant', content: '' }, null),
    openai({ content: 'rehearsal' }, null),
    tool === null ? '' : openai({ tool_calls: [call] }, null),
    openai({}, tool === null ? 'stop' : 'tool_calls'),
    `data: ${JSON.stringify({ choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ].join('');
}

function block(index: number, start: object, delta: object): string {
  return (
    event('content_block_start', { index, content_block: start }) +
    event('content_block_delta', { index, delta }) +
    event('content_block_stop', { index })
  );
}

function anthropicAnswer(tool: string | null): string {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const call = { type: 'tool_use', id: 'rehearsal', name: tool, input: {} };
  return [
    event('message_start', { message: { model: 'rehearsal', usage } }),
    block(0, { type: 'text', text: '' }, { type: 'text_delta', text: 'rehearsal' }),
    tool === null ? '' : block(1, call, { type: 'input_json_delta', partial_json: '{"path":"."}' }),
    event('message_delta', { delta: { stop_reason: tool === null ? 'end_turn' : 'tool_use' }, usage }),
    event('message_stop', {}),
  ].join('');
}

const ANSWERS: Readonly<Record<HttpDialect, (tool: string | null) => string>> = {
  openai: openaiAnswer,
  anthropic: anthropicAnswer,
};

/** True when `text` holds a whole request with a body of known length. */
function isWhole(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n');
  const length = /content-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1];
  return headEnd >= 0 && text.length >= headEnd + 4 + Number(length ?? 0);
}

function serve(socket: Socket, next: () => string): void {
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    // One character a byte: the length of the body counts bytes.
    text += chunk.toString('latin1');
    if (!isWhole(text)) return;
    text = '';
    const body = next();
    const head = `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: ${Buffer.byteLength(body)}`;
    socket.write(`${head}\r\n\r\n${body}`);
  });
}

/** Opens the stand-in; null where even the loopback address cannot be used. */
export function openStandIn(dialect: HttpDialect, tool: string): Promise<StandIn | null> {
  let requests = 0;
  const next = (): string => {
    requests += 1;
    return ANSWERS[dialect](requests % 2 === 1 ? tool : null);
  };
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    serve(socket, next);
  });
  return new Promise((resolve) => {
    server.once('error', () => resolve(null));
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      resolve({
        url: `http://127.0.0.1:${port}/`,
        close: () => {
          server.close();
          for (const socket of sockets) socket.destroy();
        },
      });
    });
  });
}
