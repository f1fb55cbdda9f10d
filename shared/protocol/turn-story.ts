// Tells a turn as its clients see it: journal events and live progress become steps of one story, whoever listens (the
// lines of a job, a subscriber, a replay). A step that comes from the journal is the same each time it is told.
import type { ProgressEvent } from '../ipc/progress.js';
import type { JournalEvent } from '../journal.js';
import type { TurnItem } from './item.js';
import { type Turn, type TurnFacts, turnView } from './turn.js';
import { agentMessageItem, finishedToolItem, startedToolItem, userMessageItem } from './turn-item.js';

export type StoryEvent =
  | { readonly type: 'journal'; readonly event: JournalEvent }
  | { readonly type: 'progress'; readonly progress: ProgressEvent }
  | { readonly type: 'budget_wait'; readonly until_ms: number | null }
  | { readonly type: 'compaction'; readonly phase: 'started' | 'nothing' }
  | {
      readonly type: 'compaction';
      readonly phase: 'done';
      readonly before_tokens: number;
      readonly after_tokens: number;
    };

export type Step =
  | { readonly type: 'turnStarted'; readonly turn: Turn; readonly text: string }
  | { readonly type: 'turnCompleted' | 'turnFailed' | 'turnBlocked'; readonly turn: Turn }
  | { readonly type: 'turnExecutionWindowStarted'; readonly window: number; readonly atMs: number }
  | { readonly type: 'turnWaiting'; readonly untilMs: number | null }
  | { readonly type: 'contextCompressing' }
  /** `tokens` is what was won; 0 where nothing could be. */
  | { readonly type: 'contextCompressed'; readonly tokens: number }
  | { readonly type: 'itemStarted' | 'itemCompleted'; readonly item: TurnItem }
  | {
      readonly type: 'itemDelta';
      readonly itemId: string;
      readonly delta: string;
      readonly stream: 'agent_message' | 'stdout';
    }
  | {
      readonly type: 'itemRetryScheduled';
      readonly itemId: string;
      readonly jobId: string;
      readonly attempt: number;
      readonly atMs: number;
      readonly reason: string;
    };

type Intent = Extract<JournalEvent, { kind: 'tool_intent' }>;

/** Holds what a later step needs of an earlier one: what was started, and the arguments of open calls. */
export class TurnStory {
  readonly #facts: TurnFacts;
  readonly #intents = new Map<string, Intent>();
  readonly #started = new Set<string>();
  #round = 0;

  constructor(facts: TurnFacts) {
    this.#facts = facts;
  }

  /** `atMs` is wall time, of the event where it is journaled. */
  told(event: StoryEvent, atMs: number): Step[] {
    if (event.type === 'journal') return this.#journal(event.event, atMs);
    if (event.type === 'progress') return this.#live(event.progress, atMs);
    if (event.type === 'compaction') return [compactionStep(event)];
    return [{ type: 'turnWaiting', untilMs: event.until_ms }];
  }

  #journal(event: JournalEvent, atMs: number): Step[] {
    switch (event.kind) {
      case 'user_message': {
        const turn = turnView(this.#facts, null);
        return [{ type: 'turnStarted', turn, text: event.text }, ...this.#whole(userMessageItem(event))];
      }
      case 'assistant_message':
        return event.text === '' ? [] : this.#whole(agentMessageItem(event));
      case 'tool_intent':
        this.#intents.set(event.call_id, event);
        return this.#start(startedToolItem(event));
      case 'tool_result': {
        const intent = this.#intents.get(event.call_id) ?? unseenIntent(event);
        this.#intents.delete(event.call_id);
        return this.#whole(finishedToolItem(intent, event));
      }
      case 'window_opened':
        return [{ type: 'turnExecutionWindowStarted', window: event.window, atMs }];
      case 'turn_ended':
        return [this.#end(event)];
      default:
        return [];
    }
  }

  #live(progress: ProgressEvent, atMs: number): Step[] {
    switch (progress.event) {
      case 'round':
        this.#round = progress.round;
        return [];
      case 'delta':
        return this.#delta(progress);
      case 'retry_scheduled':
        return [
          {
            type: 'itemRetryScheduled',
            itemId: progress.item_id,
            // All attempts at one model call are one job of recovery.
            jobId: `${this.#facts.id}.${this.#round}`,
            attempt: progress.attempt,
            atMs: atMs + progress.delay_ms,
            reason: progress.reason,
          },
        ];
      default:
        return [];
    }
  }

  #delta({ stream, item_id: itemId, text: delta }: Extract<ProgressEvent, { event: 'delta' }>): Step[] {
    if (stream === 'reasoning') return [];
    if (stream === 'tool_output') return [{ type: 'itemDelta', itemId, delta, stream: 'stdout' }];
    const opened = this.#started.has(itemId)
      ? []
      : this.#start({ type: 'agentMessage', id: itemId, text: '' });
    return [...opened, { type: 'itemDelta', itemId, delta, stream: 'agent_message' }];
  }

  #start(item: TurnItem): Step[] {
    this.#started.add(item.id);
    return [{ type: 'itemStarted', item }];
  }

  #whole(item: TurnItem): Step[] {
    const opened = this.#started.has(item.id) ? [] : this.#start(item);
    this.#started.delete(item.id);
    return [...opened, { type: 'itemCompleted', item }];
  }

  #end({ status: outcome, error }: Extract<JournalEvent, { kind: 'turn_ended' }>): Step {
    const turn = turnView(this.#facts, { outcome, ...error });
    if (turn.status === 'Completed') return { type: 'turnCompleted', turn };
    return { type: turn.status === 'Blocked' ? 'turnBlocked' : 'turnFailed', turn };
  }
}

/** Who was told of its begin is told of its end, whatever came of it. */
function compactionStep(event: Extract<StoryEvent, { type: 'compaction' }>): Step {
  if (event.phase === 'started') return { type: 'contextCompressing' };
  const won = event.phase === 'done' ? event.before_tokens - event.after_tokens : 0;
  return { type: 'contextCompressed', tokens: Math.max(0, Math.round(won)) };
}

/** Places that one journal event has for its steps: positions grow, and are the same in each telling. */
const PLACES = 4;

export function sequenceOf(step: Step, seq: number): number {
  const place = { turnStarted: 0, itemStarted: 1, itemCompleted: 2 };
  return seq * PLACES + (step.type in place ? place[step.type as keyof typeof place] : 3);
}

/** A call that never came to a verdict (its arguments could not be read) still has an item. */
function unseenIntent(result: Extract<JournalEvent, { kind: 'tool_result' }>): Intent {
  return {
    kind: 'tool_intent',
    call_id: result.call_id,
    round: 0,
    index: 0,
    tool: result.tool,
    arguments: {},
    verdict: 'deny',
    reason: '',
    runs: 'nowhere',
  };
}
