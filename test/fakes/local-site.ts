// A web server on this machine that a test answers for, and that goes when the test ends.
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Test } from 'tap';

export interface LocalSite {
  readonly url: string;
  readonly requests: IncomingMessage[];
}

export async function localSite(t: Test, answer: RequestListener): Promise<LocalSite> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, requests };
}

export function answerText(response: ServerResponse, body: string | Buffer, type = 'text/plain'): void {
  response.writeHead(200, { 'content-type': type }).end(body);
}
