// What a running turn remembers between its rounds. Lives in the worker only: whatever must survive it is told to the
// supervisor as it happens.
import type { Clock } from '../shared/clock.js';
import type { ModelSettings, TurnCredentials, TurnSnapshot } from '../shared/ipc/turn-snapshot.js';
import type { Message } from '../shared/transcript/message.js';
import { NO_USAGE, type Usage } from '../shared/transcript/usage.js';
import type { SupervisorLink } from './link.js';
import { LoopGuard } from './loop-guard.js';
import type { ModelProvider } from './models/provider.js';
import { recallCalls } from './recall-calls.js';
import { type TurnEnd, watchEnd } from './turn-end.js';

export interface TurnInput {
  readonly snapshot: TurnSnapshot;
  readonly credentials: TurnCredentials;
  readonly link: SupervisorLink;
  readonly provider: ModelProvider;
  /** The provider for a fallback; left out: the same serves all. */
  providerOf?(settings: ModelSettings): ModelProvider;
  readonly clock: Clock;
}

export interface Turn extends Omit<TurnInput, 'credentials' | 'provider'> {
  /** Of the model that is asked now. */
  credentials: TurnCredentials;
  provider: ModelProvider;
  /** Of the snapshot's models. */
  readonly given: TurnCredentials;
  /** How many of the snapshot's fallbacks were taken. */
  fallen: number;
  readonly end: TurnEnd;
  readonly loops: LoopGuard;
  /** The transcript as the model will see it next; repaired once more on its way out. */
  readonly history: Message[];
  /** The snapshot's, less what the model has refused since. */
  settings: ModelSettings;
  used: Usage;
  /** Tokens that its subagents used, as far as it was told. */
  subagentTokens: number;
  rounds: number;
  /** Calls of all answers so far, the invalid ones included: the next call's index. */
  calls: number;
  /** Calls that went to the supervisor. */
  toolCalls: number;
  /** Provider's input tokens over our estimate, by its last answer; before that by earlier turns. */
  calibration: number;
  /** Index in the history from which on everything was said in this turn. */
  ownFrom: number;
  /** How often the transcript was folded, whether the model asks for it, and up to which size another gains nothing. */
  readonly folds: { count: number; asked: boolean; floorTokens: number };
  /** Text of an answer that was cut and is being continued. */
  unfinished: string;
  /** What has gone wrong in a row; each kind has its own bound. */
  readonly streak: { empty: number; cut: number; invalid: number; mismatch: number };
}

const NOTHING_BEHIND: NonNullable<TurnSnapshot['prior']> = { rounds: 0, tokens: 0, calls: 0, tool_calls: 0 };

/** A turn that goes on counts on from where its earlier windows ended. */
export function openTurn(input: TurnInput): Turn {
  const { snapshot, link, clock } = input;
  const prior = snapshot.prior ?? NOTHING_BEHIND;
  const loops = new LoopGuard(snapshot.limits.loop_repeats);
  if (snapshot.prior !== undefined) recallCalls(loops, snapshot);
  return {
    ...input,
    end: watchEnd(link, clock, snapshot.limits.deadline_ms),
    loops,
    history: [...snapshot.messages],
    settings: snapshot.model,
    given: input.credentials,
    fallen: 0,
    used: { ...NO_USAGE, input_tokens: prior.tokens },
    subagentTokens: prior.subagent_tokens ?? 0,
    rounds: prior.rounds,
    calls: prior.calls,
    toolCalls: prior.tool_calls,
    calibration: snapshot.context?.calibration ?? 1,
    ownFrom: snapshot.messages.length,
    folds: { count: 0, asked: false, floorTokens: 0 },
    unfinished: prior.unfinished ?? '',
    streak: { empty: 0, cut: 0, invalid: 0, mismatch: 0 },
  };
}

/** A remark to the model, in its history and in the journal. */
export function remark(turn: Turn, text: string): void {
  turn.history.push({ role: 'note', text });
  turn.link.progress({ event: 'note', text });
}
