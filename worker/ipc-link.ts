// The link over the private wire: asks the supervisor, runs what it grants, and hands a result to the loop only after
// the supervisor committed it. When the supervisor is gone, everything that waits is answered as such.
import type { Clock } from '../shared/clock.js';
import type { ProgressEvent } from '../shared/ipc/progress.js';
import type { BudgetAnswer } from '../shared/ipc/to-worker.js';
import type { TurnCredentials, TurnSnapshot } from '../shared/ipc/turn-snapshot.js';
import type { JsonObject } from '../shared/json.js';
import { makeMasker } from '../shared/mask.js';
import { type ToolResult, toolError } from '../shared/tools/tool-result.js';
import type { Message } from '../shared/transcript/message.js';
import type { Control } from './control.js';
import { DeltaMerger } from './delta-merger.js';
import type { CallRequest, SupervisorLink } from './link.js';
import type { ToolContext } from './tools/executor.js';

/** Runs a granted call by its tool's name. */
export type RunTool = (tool: string, params: JsonObject, context: ToolContext) => Promise<ToolResult>;

export interface IpcLinkParts {
  readonly control: Pick<Control, 'send' | 'reply' | 'congested'>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly snapshot: TurnSnapshot;
  readonly credentials: TurnCredentials;
  readonly runTool: RunTool;
}

const LOST = 'The supervisor of this turn is gone; nothing was run.';
const LOST_AFTER = 'The supervisor of this turn is gone; the call ran, but its result could not be recorded.';

export function makeIpcLink(parts: IpcLinkParts): SupervisorLink & { flush(): void } {
  return new IpcLink(parts);
}

class IpcLink implements SupervisorLink {
  readonly signal: AbortSignal;
  readonly #parts: IpcLinkParts;
  readonly #deltas: DeltaMerger;
  readonly #mask: ReturnType<typeof makeMasker>;
  readonly #endsAtMs: number;
  #lastId = 0;

  constructor(parts: IpcLinkParts) {
    const { clock, control } = parts;
    this.#parts = parts;
    this.signal = parts.signal;
    this.#mask = makeMasker(parts.credentials.mask);
    this.#endsAtMs = clock.monotonic() + parts.snapshot.limits.deadline_ms;
    this.#deltas = new DeltaMerger({
      clock,
      congested: () => control.congested,
      send: (progress) => void control.send({ type: 'progress', progress }),
    });
  }

  async callTool(request: CallRequest): Promise<ToolResult> {
    const { control } = this.#parts;
    const id = this.#nextId();
    this.flush();
    const refused = control.send({ type: 'tool_request', id, ...request });
    if (refused !== null) return this.#unsendable(request, refused);
    const verdict = await control.reply(id);
    if (verdict?.type === 'tool_answered') return verdict.result;
    if (verdict?.type !== 'tool_granted') return toolError(LOST);
    return this.#runGranted(id, request, verdict.arguments);
  }

  async askBudget(estimateTokens: number, model?: string): Promise<BudgetAnswer> {
    const { control } = this.#parts;
    const id = this.#nextId();
    this.flush();
    const other = model === undefined ? {} : { model };
    control.send({ type: 'budget_request', id, estimate_tokens: estimateTokens, ...other });
    const reply = await control.reply(id);
    if (reply?.type === 'budget_answer') return reply.answer;
    return { kind: 'stop', code: 'refused', reason: LOST };
  }

  async compact(reason: 'threshold' | 'overflow' | 'asked'): Promise<readonly Message[] | null> {
    const { control } = this.#parts;
    const id = this.#nextId();
    this.flush();
    control.send({ type: 'compact_request', id, reason });
    const reply = await control.reply(id);
    return reply?.type === 'compact_answer' ? reply.messages : null;
  }

  progress(event: ProgressEvent): void {
    if (event.event === 'delta') {
      this.#deltas.add(event);
      return;
    }
    this.flush();
    const refused = this.#parts.control.send({ type: 'progress', progress: event });
    // Nothing may go on from what is not in the journal.
    if (refused !== null) throw new Error(`a step of the turn cannot be recorded: ${refused}`);
  }

  /** Sends the text that still waits to be merged. */
  flush(): void {
    this.#deltas.flush();
  }

  #nextId(): number {
    this.#lastId += 1;
    return this.#lastId;
  }

  /** Arguments that do not fit a frame: the model is told, and the journal too, but nobody is asked. */
  #unsendable(request: CallRequest, why: string): ToolResult {
    const message = `The call was not made: its arguments are too large or too deeply nested. ${why}.`;
    this.progress({ event: 'invalid_call', call_id: request.call_id, tool: request.tool, message });
    return toolError(message);
  }

  async #runGranted(id: number, request: CallRequest, params: JsonObject): Promise<ToolResult> {
    const { clock, control } = this.#parts;
    const startedMs = clock.monotonic();
    let result = await this.#run(request, params);
    result = { ...result, content: this.#mask.json(result.content) };
    const report = (outcome: ToolResult): string | null =>
      control.send({
        type: 'tool_result',
        id,
        call_id: request.call_id,
        result: outcome,
        duration_ms: clock.monotonic() - startedMs,
      });
    this.flush();
    const committed = control.reply(id);
    const refused = report(result);
    if (refused !== null) {
      result = toolError(`The call ran, but its result cannot be passed on. ${refused}.`);
      report(result);
    }
    const reply = await committed;
    if (reply?.type !== 'tool_committed') return toolError(LOST_AFTER);
    return reply.artifact_id === undefined ? result : withArtifact(result, reply.artifact_id);
  }

  /** An executor that throws all the same is our fault, not the model's: it gets a result, and the turn goes on. */
  async #run(request: CallRequest, params: JsonObject): Promise<ToolResult> {
    const { clock, runTool, snapshot } = this.#parts;
    const context: ToolContext = {
      workspaceRoot: snapshot.workspace_root,
      spoolDir: snapshot.spool_dir,
      processMarker: snapshot.process_marker,
      limits: snapshot.limits,
      security: snapshot.security,
      clock,
      signal: this.signal,
      callId: request.call_id,
      mask: this.#mask,
      output: (text) =>
        this.progress({ event: 'delta', item_id: request.call_id, stream: 'tool_output', text }),
      remainingMs: () => Math.max(0, this.#endsAtMs - clock.monotonic()),
    };
    try {
      return await runTool(request.tool, params, context);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      return toolError(`The tool failed inside: ${why}`);
    }
  }
}

/** Names the artifact that holds the whole output, where the result has a place for it. */
function withArtifact(result: ToolResult, artifactId: string): ToolResult {
  const { content } = result;
  if (typeof content !== 'object' || content === null || Array.isArray(content)) return result;
  return { ...result, content: { ...content, artifact_id: artifactId } };
}
