// A supervisor link in process. It journals like the supervisor does, runs tools that the test gives, and seals open
// calls when the turn is settled, so that tests see the history that the next turn would see.
import type { ProgressEvent } from '../../shared/ipc/progress.js';
import type { TurnOutcome } from '../../shared/ipc/to-supervisor.js';
import type { BudgetAnswer } from '../../shared/ipc/to-worker.js';
import type { JournalEvent } from '../../shared/journal.js';
import type { JsonValue } from '../../shared/json.js';
import type { EndReason } from '../../shared/outcome.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import type { Message } from '../../shared/transcript/message.js';
import type { CallRequest, SupervisorLink } from '../../worker/link.js';

/** Gives the content of a result, or a whole result. */
type FakeTool = (
  request: CallRequest,
  signal: AbortSignal,
) => JsonValue | ToolResult | Promise<JsonValue | ToolResult>;

export interface MemoryLinkOptions {
  readonly tools?: Readonly<Record<string, FakeTool>>;
  /** Answers to budget questions in order; the last one stays. Left out: go. */
  readonly budget?: readonly BudgetAnswer[];
  /** What a fold gives. Left out: there is nothing to fold. */
  readonly compact?: (
    reason: FoldReason,
    journal: readonly JournalEvent[],
  ) => readonly Message[] | null | Promise<null>;
}

type FoldReason = 'threshold' | 'overflow' | 'asked';

export class MemoryLink implements SupervisorLink {
  readonly events: ProgressEvent[] = [];
  readonly requests: CallRequest[] = [];
  readonly estimates: number[] = [];
  /** The fallback of each budget question; undefined for the model of the snapshot. */
  readonly askedFor: (string | undefined)[] = [];
  readonly journal: JournalEvent[] = [];
  readonly folds: FoldReason[] = [];
  /** Most calls that ran at once. */
  peak = 0;
  #running = 0;
  readonly #controller = new AbortController();
  readonly #tools: Readonly<Record<string, FakeTool>>;
  readonly #budget: BudgetAnswer[];
  readonly #compact: NonNullable<MemoryLinkOptions['compact']>;

  constructor(options: MemoryLinkOptions = {}) {
    this.#tools = options.tools ?? {};
    this.#budget = [...(options.budget ?? [{ kind: 'go' }])];
    this.#compact = options.compact ?? (() => null);
  }

  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  end(reason: EndReason): void {
    this.#controller.abort(reason);
  }

  async callTool(request: CallRequest): Promise<ToolResult> {
    this.requests.push(request);
    this.#running += 1;
    this.peak = Math.max(this.peak, this.#running);
    const tool = this.#tools[request.tool];
    const given =
      tool === undefined ? toolError(`denied: ${request.tool}`) : await tool(request, this.signal);
    this.#running -= 1;
    const result = isResult(given) ? given : { content: given, is_error: false };
    this.journal.push(resultEvent(request.call_id, request.tool, result, 'done'));
    return result;
  }

  askBudget(estimateTokens: number, model?: string): Promise<BudgetAnswer> {
    this.estimates.push(estimateTokens);
    this.askedFor.push(model);
    const answer = this.#budget.length > 1 ? this.#budget.shift() : this.#budget[0];
    return answer === undefined ? new Promise(() => undefined) : Promise.resolve(answer);
  }

  compact(reason: FoldReason): Promise<readonly Message[] | null> {
    this.folds.push(reason);
    return Promise.resolve(this.#compact(reason, this.journal));
  }

  progress(event: ProgressEvent): void {
    this.events.push(event);
    const { event: kind, ...fields } = event;
    if (kind === 'assistant') this.journal.push({ kind: 'assistant_message', ...fields } as JournalEvent);
    if (kind === 'note' || kind === 'usage') this.journal.push({ kind, ...fields } as JournalEvent);
    if (event.event === 'invalid_call')
      this.journal.push(resultEvent(event.call_id, event.tool, toolError(event.message), 'invalid'));
  }

  /** What the journal holds once the turn is settled: each call that has no result gets one. */
  settle(outcome: TurnOutcome): JournalEvent[] {
    const answered = new Set(
      this.journal.flatMap((event) => (event.kind === 'tool_result' ? [event.call_id] : [])),
    );
    for (const event of [...this.journal]) {
      if (event.kind !== 'assistant_message') continue;
      for (const call of event.calls) {
        if (answered.has(call.call_id)) continue;
        const started = this.requests.some((request) => request.call_id === call.call_id);
        const text = started ? 'interrupted, effect unknown' : 'not started';
        this.journal.push(
          resultEvent(call.call_id, call.name, toolError(text), started ? 'interrupted' : 'not_started'),
        );
      }
    }
    if (outcome.status !== 'completed')
      this.journal.push({ kind: 'note', text: `turn ended with status ${outcome.status}` });
    return this.journal;
  }

  /** All told events of one kind. */
  told<Kind extends ProgressEvent['event']>(kind: Kind): Extract<ProgressEvent, { event: Kind }>[] {
    return this.events.filter(
      (event): event is Extract<ProgressEvent, { event: Kind }> => event.event === kind,
    );
  }
}

function isResult(value: JsonValue | ToolResult): value is ToolResult {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    typeof value.is_error === 'boolean'
  );
}

function resultEvent(
  callId: string,
  tool: string,
  result: ToolResult,
  end: 'done' | 'invalid' | 'interrupted' | 'not_started',
): JournalEvent {
  return {
    kind: 'tool_result',
    call_id: callId,
    tool,
    content: result.content,
    is_error: result.is_error,
    end,
    duration_ms: 0,
  };
}
