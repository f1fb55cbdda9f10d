// Opens the daemon to clients: listens, lets those in who know the token, and says in the state directory where it is.
import type { Config } from '../../config/schema.js';
import type { Clock } from '../../shared/clock.js';
import { allHandlers } from '../handlers/all.js';
import type { Engine, ModelNames } from '../handlers/ports.js';
import type { Logger } from '../observe/logger.js';
import type { Store } from '../store/types.js';
import type { LiveListener } from '../tools/running-turn.js';
import { Broadcaster } from './broadcaster.js';
import { Connection } from './connection.js';
import { writeDaemonFile } from './daemon-file.js';
import { listen } from './listener.js';
import { operatorToken } from './operator-token.js';
import { Router } from './router.js';

export interface GatewayParts {
  readonly supervisor: Engine & { subscribe(listener: LiveListener): () => void };
  readonly store: Store;
  readonly config: Config;
  readonly logger: Logger;
  readonly clock: Clock;
  /** Root of the workspace that clients get when they name none. */
  readonly workspaceRoot: string;
  /** The model of turns that name none, and who serves it, as clients see them; and models that a turn may name. */
  readonly model: Omit<ModelNames, 'others'> & Partial<Pick<ModelNames, 'others'>>;
  /** How the daemon ends when a client asks for it; left out: the supervisor drains, and somebody else ends the process. */
  readonly drain?: () => Promise<void>;
  /** Left out: 20 s. */
  readonly pingMs?: number;
}

export interface Gateway {
  /** Where clients connect. */
  readonly url: string;
  /** Lets nobody in any more, takes leave of those who are, and takes the mark away. */
  close(): Promise<void>;
}

const OPERATOR = 'operator';
const PING_MS = 20_000;

/** Resolves when clients can connect; fails with `invalid_config` where the address cannot be used. */
export async function startGateway(parts: GatewayParts): Promise<Gateway> {
  const { clock, config, logger, store, supervisor } = parts;
  const { gateway, security } = config;
  const token = operatorToken(store.dir);
  const connections = new Set<Connection>();
  const broadcaster = new Broadcaster({ store, clock, defaultMode: security.default_mode });
  const handlers = allHandlers({
    engine: supervisor,
    store,
    clock,
    watch: broadcaster,
    workspaceRoot: parts.workspaceRoot,
    defaultMode: security.default_mode,
    model: { others: [], ...parts.model },
    onBusyThread: gateway.on_busy_thread,
    startedAtMs: clock.now(),
    drain: parts.drain ?? (() => supervisor.drain()),
    connections: () => connections.size,
  });
  const router = new Router({ handlers, clock, logger });
  const unsubscribe = supervisor.subscribe((turnId, event) => broadcaster.live(turnId, event));
  const listener = await listen({
    listen: gateway.listen,
    rules: { allowedHosts: gateway.allowed_hosts, allowedOrigins: gateway.allowed_origins },
    maxConnections: gateway.max_connections,
    token,
    clock,
    status: () => supervisor.status(),
    hasRoom: () => connections.size < gateway.max_connections,
    connected: (socket) => {
      const connection = new Connection(socket, OPERATOR, {
        router,
        broadcaster,
        clock,
        pingMs: parts.pingMs ?? PING_MS,
        slow: () => logger.log('warn', 'gateway.slow_client', { connections: connections.size }),
      });
      connections.add(connection);
      socket.once('close', () => connections.delete(connection));
    },
  });
  const { url } = listener;
  const removeFile = writeDaemonFile(store.dir, { url, pid: process.pid, token_file: token.file });
  logger.log('info', 'gateway.listening', { url });
  return {
    url,
    close: async () => {
      removeFile();
      for (const connection of connections) connection.goAway();
      await Promise.all([...connections].map((connection) => connection.gone));
      unsubscribe();
      await listener.close();
    },
  };
}
