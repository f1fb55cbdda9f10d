// One way to model servers, as it is configured: nothing of it is revealed or looked up yet.
import type { Config } from '../../config/schema.js';
import type { Dialect, ModelSettings } from '../../shared/ipc/turn-snapshot.js';

type Intelligence = Config['intelligence'];

export interface Connection {
  /** Path of its keys in the configuration, for what is said about them. */
  readonly at: string;
  readonly endpoints: readonly string[] | null;
  readonly dialect: Dialect | null;
  readonly token: Intelligence['token'];
  readonly auth: Intelligence['auth'];
  readonly headers: Intelligence['headers'];
  readonly structuredOutput: ModelSettings['structured_output'];
  readonly caFile: string | null;
}
