// How much of a conversation fits beside the prompt and the tools of a turn, for the model that answers it: by the window
// that is known, and by what earlier calls said about our estimates.
import type { Clock } from '../../shared/clock.js';
import type { ModelSettings } from '../../shared/ipc/turn-snapshot.js';
import type { PlannedTool } from '../../shared/tools/tool-plan.js';
import { ANSWER_ALLOWANCE, estimateFixed } from '../../shared/transcript/estimate-tokens.js';
import { type Room, roomOf } from '../../shared/transcript/room.js';
import type { Store } from '../store/types.js';

export interface RoomParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly compactAt: number;
  /** Of the model, and the smallest where a turn may be routed to others. */
  windowOf(settings: ModelSettings): number;
}

export interface TurnRoom extends Room {
  readonly ratio: number;
  readonly fixedTokens: number;
  readonly window: number;
}

/** Before any turn was built: a usual prompt with the built-in tools. */
const FIXED_GUESS = 8_000;

export class TurnRooms {
  readonly #parts: RoomParts;
  #prompt = '';
  #tools = '';
  #fixedTokens = FIXED_GUESS;

  constructor(parts: RoomParts) {
    this.#parts = parts;
  }

  of(settings: ModelSettings, systemPrompt: string, tools: readonly PlannedTool[]): TurnRoom {
    return this.#room(settings, this.#fixed(systemPrompt, tools));
  }

  /** With the fixed part of the turn that was built last. */
  usual(settings: ModelSettings): TurnRoom {
    return this.#room(settings, this.#fixedTokens);
  }

  /** A request was refused as too long, though it was taken for one that fits: less is sent from now on. */
  refused(settings: ModelSettings, room: TurnRoom, messageTokens: number): void {
    const { store, clock } = this.#parts;
    const tokens = Math.min(room.window, (room.fixedTokens + messageTokens) * room.ratio);
    store.transact('compact', () => store.calibrations.tooLong(settings.model, tokens * SAFER, clock.now()));
  }

  #room(settings: ModelSettings, fixedTokens: number): TurnRoom {
    const { store, clock, compactAt } = this.#parts;
    const { ratio, too_long_tokens: tooLong } = store.calibrations.get(settings.model, clock.now());
    const said = this.#parts.windowOf(settings);
    const window = Math.min(said, tooLong ?? said);
    const answerTokens = (settings.max_output_tokens || ANSWER_ALLOWANCE) + (settings.thinking_tokens ?? 0);
    const room = roomOf({ window, compactAt, answerTokens, fixedTokens, ratio });
    return { ...room, ratio, fixedTokens, window };
  }

  /** Counted once for each prompt: most turns have the same. */
  #fixed(systemPrompt: string, tools: readonly PlannedTool[]): number {
    const names = tools.map((tool) => tool.wire_name).join();
    if (systemPrompt !== this.#prompt || names !== this.#tools) {
      this.#prompt = systemPrompt;
      this.#tools = names;
      this.#fixedTokens = estimateFixed(systemPrompt, tools);
    }
    return this.#fixedTokens;
  }
}

/** What was refused was at least a little too long, and an estimate may be wrong by some. */
const SAFER = 0.85;
