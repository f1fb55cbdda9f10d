// web_fetch: a URL's content as text to read, or as an artifact. Redirects are followed here, one judged hop at a time.
import type { IncomingMessage } from 'node:http';
import { join } from 'node:path';
import type { JsonObject } from '../../shared/json.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';
import { type WebFetchParams, webFetchParams } from '../../shared/tools/web-tools.js';
import { checked } from './checked.js';
import type { ToolContext } from './executor.js';
import { ToolFailure } from './files/tool-failure.js';
import { addressRules } from './web/address-rules.js';
import { bodyResult } from './web/body-result.js';
import { BodyStore } from './web/body-store.js';
import { fetchHop, type ResolveHost, resolveBySystem } from './web/fetch-hop.js';
import { type BodyEnd, readBody } from './web/read-body.js';
import { parseFetchUrl, shownUrl } from './web/url-rules.js';

const REDIRECTS_MAX = 5;
const REDIRECT_STATUSES = new Set([301, 302, 303, 307, 308]);
let fetches = 0;

/** With the name service of the system; tests bring their own. */
export function makeWebFetch(resolve: ResolveHost): ReturnType<typeof checked> {
  return checked(webFetchParams, (params, context) => fetchWithin(params, context, resolve));
}

export const webFetch = makeWebFetch(resolveBySystem);

/** One limit of time over everything: lookups, connections, redirects, body. */
async function fetchWithin(
  params: WebFetchParams,
  context: ToolContext,
  resolve: ResolveHost,
): Promise<ToolResult> {
  const limitMs = Math.min(context.limits.fetch_ms, context.remainingMs());
  const stop = new AbortController();
  let timedOut = false;
  const cancelTimer = context.clock.after(limitMs, () => {
    timedOut = true;
    stop.abort();
  });
  const onAbort = (): void => stop.abort();
  context.signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await fetchAll(params, context, { resolve, signal: stop.signal, timedOut: () => timedOut });
  } catch (error) {
    if (context.signal.aborted) throw new ToolFailure('Interrupted: the turn is ending.');
    if (timedOut)
      throw new ToolFailure(`No complete answer within ${Math.round(limitMs)} ms.`, { code: 'timeout' });
    throw error;
  } finally {
    cancelTimer();
    context.signal.removeEventListener('abort', onAbort);
  }
}

interface Fetching {
  readonly resolve: ResolveHost;
  readonly signal: AbortSignal;
  readonly timedOut: () => boolean;
}

async function fetchAll(
  params: WebFetchParams,
  context: ToolContext,
  fetching: Fetching,
): Promise<ToolResult> {
  const { response, url, redirects } = await followHops(params, context, fetching);
  fetches += 1;
  const path = join(context.spoolDir, `fetch-${process.pid}-${fetches}`);
  const store = new BodyStore(`${path}.body`, context.limits.spill_bytes);
  const most = Math.min(params.max_bytes ?? context.limits.fetch_bytes, context.limits.fetch_bytes);
  const end: BodyEnd =
    params.method === 'HEAD' ? emptyEnd(response) : await readBody(response, store, most, fetching.timedOut);
  if (context.signal.aborted) {
    await store.discard();
    throw new ToolFailure('Interrupted: the turn is ending.');
  }
  const status = response.statusCode ?? 0;
  const facts: JsonObject = {
    ...(status >= 400
      ? { error: `The server answered ${status} ${response.statusMessage ?? ''}`.trim() }
      : {}),
    url: shownUrl(url),
    status,
    ...(redirects.length > 0 ? { redirects: redirects.map(shownUrl) } : {}),
    ...headerFacts(response),
  };
  const body = await bodyResult({
    store,
    end,
    contentType: response.headers['content-type'] ?? '',
    url,
    raw: params.raw,
    hasBody: params.method !== 'HEAD',
    limitBytes: most,
    room: context.limits.tool_output_bytes - Buffer.byteLength(JSON.stringify(facts)) - 600,
    textPath: `${path}.txt`,
    spillBytes: context.limits.spill_bytes,
  });
  return {
    content: { ...facts, ...body.content },
    is_error: status >= 400,
    ...(body.spill === undefined ? {} : { spill: body.spill }),
  };
}

interface Arrived {
  readonly response: IncomingMessage;
  readonly url: URL;
  readonly redirects: readonly URL[];
}

async function followHops(
  params: WebFetchParams,
  context: ToolContext,
  fetching: Fetching,
): Promise<Arrived> {
  const rules = addressRules(context.security.web_allow_private);
  const { resolve, signal } = fetching;
  const redirects: URL[] = [];
  let url = parseFetchUrl(params.url, null, context.mask);
  for (;;) {
    const response = await fetchHop({ url, method: params.method, rules, resolve, signal });
    const location = response.headers.location;
    if (location === undefined || !REDIRECT_STATUSES.has(response.statusCode ?? 0))
      return { response, url, redirects };
    response.destroy();
    if (redirects.length >= REDIRECTS_MAX)
      throw new ToolFailure(`More than ${REDIRECTS_MAX} redirects; the last one came from ${shownUrl(url)}.`);
    redirects.push(url);
    try {
      // Header bytes come as latin1; servers that do not escape their paths mean UTF-8.
      url = parseFetchUrl(Buffer.from(location, 'latin1').toString('utf8'), url, context.mask);
    } catch (error) {
      if (error instanceof ToolFailure)
        throw new ToolFailure(`${shownUrl(url)} redirects elsewhere: ${error.message}`);
      throw error;
    }
  }
}

function emptyEnd(response: IncomingMessage): BodyEnd {
  response.destroy();
  return { bytes: 0, cut: null };
}

function headerFacts({ headers }: IncomingMessage): JsonObject {
  const length = Number(headers['content-length'] ?? Number.NaN);
  return {
    content_type: (headers['content-type'] ?? '').slice(0, 200),
    ...(Number.isSafeInteger(length) ? { content_length: length } : {}),
    ...(headers['last-modified'] === undefined
      ? {}
      : { last_modified: headers['last-modified'].slice(0, 100) }),
  };
}
