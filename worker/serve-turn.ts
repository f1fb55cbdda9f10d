// Runs the one turn of this worker. Loaded when a turn or a rehearsal needs it, not when the worker starts.
import type { Clock } from '../shared/clock.js';
import type { TurnOutcome } from '../shared/ipc/to-supervisor.js';
import type { ModelSettings, TurnCredentials, TurnSnapshot } from '../shared/ipc/turn-snapshot.js';
import { toolError } from '../shared/tools/tool-result.js';
import type { Control } from './control.js';
import { makeIpcLink, type RunTool } from './ipc-link.js';
import type { ModelProvider } from './models/provider.js';
import { providerFor } from './models/registry.js';
import { EXECUTORS } from './tools/registry.js';
import { endAllSessions } from './tools/shell-sessions.js';
import { runTurn } from './turn-loop.js';

const runTool: RunTool = (tool, params, context) => {
  const executor = EXECUTORS[tool];
  if (executor === undefined) return Promise.resolve(toolError(`This worker has no tool ${tool}.`));
  return executor(params, context);
};

export interface TurnParts {
  readonly control: Control;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly snapshot: TurnSnapshot;
  readonly credentials: TurnCredentials;
  /** The provider that a rehearsal connected, if it fits this turn. */
  readonly provider: ModelProvider | null;
}

/** Resolves when the turn is over and everything it told is on its way. The process ends next, and its connections with it. */
export async function serveTurn(parts: TurnParts): Promise<TurnOutcome> {
  const { snapshot, credentials, clock } = parts;
  const link = makeIpcLink({ ...parts, runTool });
  const provider = parts.provider ?? providerFor(snapshot.model, clock);
  const providerOf = (settings: ModelSettings): ModelProvider =>
    settings.dialect === snapshot.model.dialect ? provider : providerFor(settings, clock);
  const outcome = await runTurn({ snapshot, credentials, link, provider, providerOf, clock });
  await endAllSessions(snapshot.process_marker);
  link.flush();
  return outcome;
}
