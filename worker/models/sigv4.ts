// Signs a request as AWS asks for it (Signature Version 4). Pure: the caller brings the time and the keys; what comes
// back are headers, the secret is in none of them.
import { createHash, createHmac } from 'node:crypto';
import type { AwsKeys } from '../../shared/ipc/turn-snapshot.js';

interface Signable {
  readonly method: string;
  /** The path as it is sent. It is encoded once more for the signature, as every service but storage expects. */
  readonly path: string;
  readonly query: Iterable<readonly [string, string]>;
  /** Headers to sign, `host` among them; names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly service: string;
  readonly keys: AwsKeys;
  readonly atMs: number;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';

/** Percent-encoding that leaves only letters, digits and `-._~`. */
export function encodeStrictly(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hash(text: string): string {
  return createHash('sha256').update(text, 'utf8').digest('hex');
}

function hmac(key: string | Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text, 'utf8').digest();
}

function compare(left: string, right: string): number {
  return left < right ? -1 : left > right ? 1 : 0;
}

function canonicalQuery(query: Signable['query']): string {
  return [...query]
    .map(([name, value]) => [encodeStrictly(name), encodeStrictly(value)] as const)
    .sort((left, right) => compare(left[0], right[0]) || compare(left[1], right[1]))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** The headers to add to the request: when it was signed, for whom, and the signature. */
export function signature(request: Signable): Record<string, string> {
  const { keys } = request;
  const stamp = `${new Date(request.atMs).toISOString().slice(0, 19).replace(/[-:]/g, '')}Z`;
  const added: Record<string, string> = {
    'x-amz-date': stamp,
    ...(keys.session_token === undefined ? {} : { 'x-amz-security-token': keys.session_token }),
  };
  const headers = Object.entries({ ...request.headers, ...added })
    .map(([name, value]) => [name, value.trim().replace(/ +/g, ' ')] as const)
    .sort((left, right) => compare(left[0], right[0]));
  const names = headers.map(([name]) => name).join(';');
  const canonical = [
    request.method,
    request.path.split('/').map(encodeStrictly).join('/'),
    canonicalQuery(request.query),
    ...headers.map(([name, value]) => `${name}:${value}`),
    '',
    names,
    hash(request.body),
  ].join('\n');
  const day = stamp.slice(0, 8);
  const scope = `${day}/${keys.region}/${request.service}/aws4_request`;
  const key = [keys.region, request.service, 'aws4_request'].reduce<Buffer>(
    (made, part) => hmac(made, part),
    hmac(`AWS4${keys.secret_access_key}`, day),
  );
  const signed = hmac(key, [ALGORITHM, stamp, scope, hash(canonical)].join('\n')).toString('hex');
  return {
    ...added,
    authorization: `${ALGORITHM} Credential=${keys.access_key_id}/${scope}, SignedHeaders=${names}, Signature=${signed}`,
  };
}
