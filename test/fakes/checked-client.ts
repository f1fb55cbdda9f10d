// The typed client, with every message of the daemon held against the definitions: what is not in them is a failure.
import { isDeepStrictEqual } from 'node:util';
import type { Test } from 'tap';
import * as v from 'valibot';
import { type Client, connect } from '../../shared/client/client.js';
import { errorResponse, notificationEnvelope, response } from '../../shared/protocol/envelope.js';
import { METHODS, type Method, type ParamsGiven, type Result } from '../../shared/protocol/methods.js';
import { NOTIFICATIONS, type Notification } from '../../shared/protocol/notifications.js';

export interface CheckedClient {
  call<M extends Method>(method: M, params: ParamsGiven<M>): Promise<Result<M>>;
  readonly told: Notification[];
  /** The first notification, past or to come, that fits. */
  heard(fits: (notification: Notification) => boolean): Promise<Notification>;
  readonly closed: Client['closed'];
  close(): void;
}

export interface Door {
  readonly url: string;
  readonly token: string;
}

export async function checkedClient(t: Test, door: Door): Promise<CheckedClient> {
  const client = await connect({ ...door, observe: (message) => check(t, message) });
  t.teardown(() => client.close());
  const told: Notification[] = [];
  const waiting = new Set<() => void>();
  client.onNotification((notification) => {
    told.push(notification);
    for (const look of [...waiting]) look();
  });
  return {
    told,
    closed: client.closed,
    close: () => client.close(),
    call: async (method, params) => {
      const result = await client.call(method, params);
      exact(t, METHODS[method].result as v.GenericSchema, result, `result of ${method}`);
      return result;
    },
    heard: (fits) =>
      new Promise((resolve) => {
        const look = (): void => {
          const found = told.find(fits);
          if (found === undefined) return;
          waiting.delete(look);
          resolve(found);
        };
        waiting.add(look);
        look();
      }),
  };
}

function check(t: Test, message: unknown): void {
  if (v.is(response, message)) return;
  if (typeof message === 'object' && message !== null && 'error' in message) {
    exact(t, errorResponse, message, 'an error');
    return;
  }
  exact(t, notificationEnvelope, message, 'a notification');
  const { method, params } = message as Notification;
  if (!Object.hasOwn(NOTIFICATIONS, method)) t.fail(`${method} is no notification of the table`);
  else exact(t, NOTIFICATIONS[method] as v.GenericSchema, params, method);
}

/** Nothing missing, nothing wrong, and nothing that the definition does not know. */
function exact(t: Test, schema: v.GenericSchema, value: unknown, what: string): void {
  const parsed = v.safeParse(schema, value);
  if (!parsed.success) t.fail(`${what}: ${v.getDotPath(parsed.issues[0])}: ${parsed.issues[0].message}`);
  else if (!isDeepStrictEqual(parsed.output, value))
    t.same(value, parsed.output, `${what} has only what its definition has`);
}
