// Where Bedrock is and what requests to it are signed with: what is configured, else what the environment says in the
// words of every AWS tool. Reads no files of other programs and asks no metadata service.
import type { AwsKeys } from '../../shared/ipc/turn-snapshot.js';
import type { Connection } from './configured-connection.js';

interface AwsAccess {
  readonly bases: readonly string[];
  /** Null where a token is sent instead. */
  readonly keys: AwsKeys | null;
}

const REGION = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** A sentence where something is missing; it names no value. */
export function awsAccess(connection: Connection, env: NodeJS.ProcessEnv): AwsAccess | string {
  const { at, auth, endpoints, token } = connection;
  const region =
    auth.region ??
    regionOf(endpoints?.[0] ?? null) ??
    (env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || undefined);
  const needsRegion = endpoints === null || token === null;
  if (region === undefined && needsRegion)
    return `${at}.auth.region: Bedrock needs a region; set it, or AWS_REGION`;
  if (region !== undefined && !REGION.test(region))
    return 'AWS_REGION: expected a region such as eu-central-1';
  const bases = endpoints ?? [serverIn(region ?? '')];
  if (token !== null) return { bases, keys: null };
  const keys = keysOf(auth, env);
  if (keys === null || region === undefined)
    return `${at}.auth: Bedrock needs keys; set access_key_id and secret_access_key there, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY`;
  if (Object.values(keys).some((value) => value !== undefined && !/^[\x21-\x7e]+$/.test(value)))
    return `${at}.auth: the keys for AWS hold characters that no key has`;
  if (new Set(bases.map(regionOf).filter((named) => named !== undefined)).size > 1)
    return `${at}.endpoints: requests are signed for one region (${region}): name endpoints of that region only`;
  return { bases, keys: { region, ...keys } };
}

/** Both keys from one place: half of one pair and half of another would never fit. */
function keysOf(auth: Connection['auth'], env: NodeJS.ProcessEnv): Omit<AwsKeys, 'region'> | null {
  const configured = auth.access_key_id !== null;
  const accessKeyId = configured ? auth.access_key_id?.reveal() : env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = configured ? auth.secret_access_key?.reveal() : env['AWS_SECRET_ACCESS_KEY'];
  const sessionToken = configured ? auth.session_token?.reveal() : env['AWS_SESSION_TOKEN'];
  if (!accessKeyId || !secretAccessKey) return null;
  return {
    access_key_id: accessKeyId,
    secret_access_key: secretAccessKey,
    ...(sessionToken ? { session_token: sessionToken } : {}),
  };
}

function serverIn(region: string): string {
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`;
}

function regionOf(endpoint: string | null): string | undefined {
  if (endpoint === null) return undefined;
  return /^https?:\/\/(?:[a-z0-9-]+\.)?bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./i
    .exec(endpoint)?.[1]
    ?.toLowerCase();
}
