// How much conversation fits beside everything else that a request holds, and from where on it is to be folded.
// Whatever is configured, the answer leaves some room: a fixed part that is too large must not make it fold for ever.

export interface RoomInput {
  /** Of the model, in its own tokens. */
  readonly window: number;
  /** Share of the window from which on a conversation is folded. */
  readonly compactAt: number;
  /** What one answer may take, thinking included. */
  readonly answerTokens: number;
  /** System prompt and tools, by our estimate. */
  readonly fixedTokens: number;
  /** The model's tokens over our estimate. */
  readonly ratio: number;
}

export interface Room {
  /** Messages by our estimate, before they are folded. */
  readonly messages: number;
  /** The whole request in the model's tokens, before it is folded. */
  readonly request: number;
}

/** A window of which less is left than this is shown at least so much of the conversation, and the provider decides. */
const LEAST_MESSAGES = 512;

export function roomOf(input: RoomInput): Room {
  const { window, compactAt, fixedTokens, ratio } = input;
  const reserve = Math.min(input.answerTokens, window / 2);
  const usable = (window - reserve) / ratio - fixedTokens;
  const early = Math.min(compactAt * window, window - reserve) / ratio - fixedTokens;
  // A fixed part that fills most of the window leaves a share of the rest, not a threshold that is always passed.
  const messages = Math.floor(Math.max(early, compactAt * usable, LEAST_MESSAGES));
  return { messages, request: Math.ceil((messages + fixedTokens) * ratio) };
}
