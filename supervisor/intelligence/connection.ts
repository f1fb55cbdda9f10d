// One configured way to model servers, the usual one or a named provider: where it is, what it speaks, and with which
// credentials. Secrets are revealed here, into credentials, and nowhere else.
import { readFileSync } from 'node:fs';
import type { ProviderConfig } from '../../config/models-schema.js';
import type { Config } from '../../config/schema.js';
import type { Dialect, ModelCredentials, ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import { awsAccess } from './aws-access.js';
import type { Connection } from './configured-connection.js';

type Intelligence = Config['intelligence'];

/** A connection that can be used: every model over it is reached like this. */
export interface Access {
  readonly dialect: Dialect;
  /** In order of preference. */
  readonly bases: readonly string[];
  readonly credentials: ModelCredentials;
  readonly structuredOutput: ModelSettings['structured_output'];
}

const SERVERS = { openai: 'https://api.openai.com', anthropic: 'https://api.anthropic.com' };
const UNSIGNED: Connection['auth'] = {
  kind: null,
  region: null,
  access_key_id: null,
  secret_access_key: null,
  session_token: null,
};

export function usualConnection(intelligence: Intelligence): Connection {
  const { endpoints, dialect, token, auth, headers } = intelligence;
  const { structured_output: structuredOutput, ca_file: caFile } = intelligence;
  return { at: 'intelligence', endpoints, dialect, token, auth, headers, structuredOutput, caFile };
}

export function providerConnection(
  name: string,
  provider: ProviderConfig,
  { structured_output: usual }: Intelligence,
): Connection {
  const { endpoints, dialect, token, auth, headers } = provider;
  return {
    at: `intelligence.providers.${name}`,
    endpoints,
    dialect,
    token,
    auth: auth ?? UNSIGNED,
    headers: headers ?? {},
    structuredOutput: provider.structured_output ?? usual,
    caFile: provider.ca_file,
  };
}

export function isConfigured({ endpoints, dialect, token, auth }: Connection): boolean {
  return [endpoints, dialect, token].some((value) => value !== null) || signs(auth);
}

/** Any of the keys says that requests are to be signed, and only one dialect signs. */
function signs(auth: Connection['auth']): boolean {
  return auth.kind === 'aws' || Object.values(auth).some((value) => value !== null);
}

export function dialectOf({ auth, dialect }: Connection): Dialect {
  return dialect ?? (signs(auth) ? 'bedrock' : 'openai');
}

/** A sentence where something is missing. */
export function accessTo(connection: Connection, env: NodeJS.ProcessEnv): Access | string {
  const dialect = dialectOf(connection);
  const token = connection.token?.reveal();
  if (dialect === 'builtin') return accessOver(connection, { dialect, bases: [''], credentials: {} });
  if (dialect === 'bedrock') {
    const access = awsAccess(connection, env);
    if (typeof access === 'string') return access;
    const { bases, keys } = access;
    const credentials = {
      ...(token === undefined ? {} : { token }),
      ...(keys === null ? {} : { aws: keys }),
    };
    return accessOver(connection, { dialect, bases, credentials });
  }
  const known = dialect === 'anthropic' ? SERVERS.anthropic : SERVERS.openai;
  return accessOver(connection, {
    dialect,
    bases: connection.endpoints ?? [known],
    credentials: token === undefined ? {} : { token },
  });
}

/** A found server, with what the connection says beside where it is. */
export function accessOver(
  { at, headers, structuredOutput, caFile }: Connection,
  found: {
    readonly dialect: Dialect;
    readonly bases: readonly string[];
    readonly credentials: Omit<ModelCredentials, 'headers' | 'ca'>;
  },
): Access | string {
  const revealed: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers))
    revealed[name] = typeof value === 'string' ? value : value.reveal();
  const ca = caFile === null ? undefined : readCa(caFile, at);
  if (ca?.ok === false) return ca.message;
  const { dialect, bases, credentials } = found;
  return {
    dialect,
    bases,
    structuredOutput,
    credentials: { headers: revealed, ...credentials, ...(ca === undefined ? {} : { ca: ca.pem }) },
  };
}

function readCa(path: string, at: string): { ok: true; pem: string } | { ok: false; message: string } {
  try {
    return { ok: true, pem: readFileSync(path, 'utf8') };
  } catch (error) {
    return { ok: false, message: `${at}.ca_file: ${error instanceof Error ? error.message : String(error)}` };
  }
}
