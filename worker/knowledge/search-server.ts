// Asks a search server of the operator: one POST, one bounded JSON answer, within its time. Its texts are data.
import { request as requestPlain } from 'node:http';
import { request as requestSecure } from 'node:https';
import * as v from 'valibot';
import { searchHit } from '../../shared/ipc/search.js';
import type { Passage } from './ranking.js';

export interface ServerPlace {
  readonly url: string;
  readonly token?: string | undefined;
}

const BODY_MAX = 1024 * 1024;
const HEAD_MAX = 32 * 1024;

const answer = v.object({ hits: v.array(searchHit) });

/** Rejects with a sentence of our own. */
export async function searchServer(
  { url, token }: ServerPlace,
  query: string,
  top: number,
  signal: AbortSignal,
): Promise<Passage[]> {
  const body = JSON.stringify({ query, top });
  const text = await new Promise<string>((resolve, reject) => {
    const send = url.startsWith('https:') ? requestSecure : requestPlain;
    const request = send(url, {
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        'user-agent': 'turnd',
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      agent: false,
      maxHeaderSize: HEAD_MAX,
      signal,
    });
    request.on('error', () => reject(new TypeError('the search server could not be reached in time')));
    request.on('response', (response) => {
      const { statusCode = 0 } = response;
      const chunks: Buffer[] = [];
      let bytes = 0;
      if (statusCode !== 200) {
        request.destroy();
        reject(new TypeError(`the search server answered ${statusCode}`));
        return;
      }
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes > BODY_MAX) request.destroy(new TypeError('too large'));
      });
      response.on('error', () => reject(new TypeError('the answer of the search server broke off')));
      response.on('end', () => resolve(Buffer.concat(chunks).toString('utf8')));
    });
    request.end(body);
  });
  const parsed = v.safeParse(answer, jsonOf(text));
  if (!parsed.success)
    throw new TypeError('the search server answered something else than {hits: [{source, text}]}');
  return parsed.output.hits.slice(0, top);
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
