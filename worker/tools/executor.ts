// The contract of a worker-side tool: granted arguments in, result out. One executor a file.
import type { Clock } from '../../shared/clock.js';
import type { SecuritySnapshot, TurnLimits } from '../../shared/ipc/turn-snapshot.js';
import type { Masker } from '../../shared/mask.js';
import type { ToolResult } from '../../shared/tools/tool-result.js';

export interface ToolContext {
  readonly workspaceRoot: string;
  readonly spoolDir: string;
  readonly processMarker: string;
  readonly limits: TurnLimits;
  readonly security: SecuritySnapshot;
  readonly clock: Clock;
  /** Fires when the turn ends; an executor stops what it started before it returns. */
  readonly signal: AbortSignal;
  readonly callId: string;
  /** Knows the secrets of this installation: nothing that holds one may be sent anywhere. Absent: there are none. */
  readonly mask?: Masker;
  /** Live output for people who watch; not stored. */
  output(text: string): void;
  /** What is left of the turn's deadline. */
  remainingMs(): number;
}

/** Never throws for what a model or the world can cause: that is a result with is_error. */
export type Executor<Params> = (params: Params, context: ToolContext) => Promise<ToolResult>;
