// Who may open a connection, by the headers of the request alone. Pure. A web page of somebody else must not get in by
// the browser of the operator: neither from its own origin, nor by a name that it points at this machine.
import type { IncomingHttpHeaders } from 'node:http';
import { isLoopbackHost } from '../../config/gateway-schema.js';

export interface DoorRules {
  readonly allowedHosts: readonly string[];
  readonly allowedOrigins: readonly string[];
}

export type Refusal = { readonly status: number; readonly message: string };

/** Null when the request may come in as far as its names go. */
export function namesRefusal(headers: IncomingHttpHeaders, rules: DoorRules): Refusal | null {
  const host = headers.host ?? '';
  const name = hostName(host);
  if (name === null || !(isLoopbackHost(name) || rules.allowedHosts.includes(name)))
    return { status: 403, message: 'the Host of the request is not one of this daemon' };
  const { origin } = headers;
  if (origin === undefined || origin === `http://${host}` || rules.allowedOrigins.includes(origin))
    return null;
  return { status: 403, message: 'pages of this origin may not connect' };
}

function hostName(host: string): string | null {
  const match = /^(\[[0-9a-f:.]+\]|[a-z0-9.-]+)(?::\d{1,5})?$/i.exec(host);
  return match?.[1]?.toLowerCase() ?? null;
}

const PROTOCOL = 'turnd';
const BEARER_PROTOCOL = 'turnd.bearer.';

/** The token of a request: in its header, or for browsers as a subprotocol. Null when it has none. */
export function bearerOf(headers: IncomingHttpHeaders): string | null {
  const header = /^bearer +(\S+)\s*$/i.exec(headers.authorization ?? '');
  if (header?.[1] !== undefined) return header[1];
  const offered = (headers['sec-websocket-protocol'] ?? '').split(',').map((part) => part.trim());
  return offered.find((part) => part.startsWith(BEARER_PROTOCOL))?.slice(BEARER_PROTOCOL.length) || null;
}

/** A browser wants one of those that it offered; the one without the token, where it offered that. */
export function chosenProtocol(offered: ReadonlySet<string>): string | false {
  if (offered.has(PROTOCOL)) return PROTOCOL;
  return [...offered].find((part) => part.startsWith(BEARER_PROTOCOL)) ?? false;
}
