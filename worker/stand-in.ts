// A model endpoint that lives in this process for the length of a rehearsal: a bare socket on the loopback address that
// answers every request with canned bytes, first a tool call, then a text, in the words of the dialect.
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';
import { cannedAnswers, type HttpDialect } from './stand-in-answers.js';

export interface StandIn {
  readonly url: string;
  close(): void;
}

/** True when `text` holds a whole request with a body of known length. */
function isWhole(text: string): boolean {
  const headEnd = text.indexOf('\r\n\r\n');
  const length = /content-length: *(\d+)/i.exec(text.slice(0, headEnd))?.[1];
  return headEnd >= 0 && text.length >= headEnd + 4 + Number(length ?? 0);
}

function serve(socket: Socket, next: () => Buffer): void {
  let text = '';
  socket.on('error', () => undefined);
  socket.on('data', (chunk: Buffer) => {
    // One character a byte: the length of the body counts bytes.
    text += chunk.toString('latin1');
    if (!isWhole(text)) return;
    text = '';
    const body = next();
    // Without a type the body is taken as the stream that the dialect expects.
    socket.write(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\n\r\n`);
    socket.write(body);
  });
}

/** Opens the stand-in; null where even the loopback address cannot be used. */
export async function openStandIn(dialect: HttpDialect, tool: string): Promise<StandIn | null> {
  const answer = await cannedAnswers(dialect);
  let requests = 0;
  const next = (): Buffer => {
    requests += 1;
    return answer(requests % 2 === 1 ? tool : null);
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
