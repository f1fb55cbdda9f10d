// Asks the model of the preflight role what kind of message it is: a chat model writes the verdict, a decision model
// answers questions. Whatever goes wrong leaves no verdict.
import type { Message } from '../../shared/transcript/message.js';
import { asDecision } from './decision.js';
import type { Thinker, ThinkRequest, ThinkResult } from './thinker.js';
import {
  type RouteChoice,
  triagePrompt,
  triageQuestions,
  type Verdict,
  verdictOf,
  verdictOfAnswers,
  verdictSchema,
} from './verdict.js';

const OUTPUT_TOKENS = 1_024;
const DEADLINE_MS = 60_000;
/** What is shown of the conversation: enough to know what "it" is. */
const SHOWN_MESSAGES = 6;
const SHOWN_CHARS = 600;
/** Head and tail of a long message say what it wants; the middle is what it is about. */
const MESSAGE_CHARS = 8_000;

export interface TriageInput {
  readonly turnId: string;
  readonly threadId: string;
  readonly principal: string;
  readonly text: string;
  /** What was said before it, oldest first. */
  readonly earlier: readonly Message[];
  /** Goal of the plan that is not finished; null when there is none. */
  readonly goal: string | null;
  readonly routes: readonly RouteChoice[];
  /** The model takes decisions and writes nothing. */
  readonly native: boolean;
  /** Answers of a decision model below it do not count. */
  readonly confidence: number;
}

export type Triaged =
  | { readonly ok: true; readonly verdict: Verdict | null }
  | { readonly ok: false; readonly code: string; readonly message: string };

export async function triage(thinker: Thinker, input: TriageInput, signal: AbortSignal): Promise<Triaged> {
  const { turnId, threadId, principal } = input;
  const common = { purpose: 'preflight', turnId, threadId, principal, deadline_ms: DEADLINE_MS } as const;
  if (!input.native) {
    const result = await thinker.think({ ...common, ...asked(input) }, signal);
    return result.ok ? { ok: true, verdict: verdictOf(result.value) } : failed(result);
  }
  const questions = triageQuestions(input.routes);
  const { read, ...request } = asDecision({ situation: situationOf(input), questions }, true);
  const result = await thinker.think({ ...common, ...request, max_output_tokens: OUTPUT_TOKENS }, signal);
  if (!result.ok) return failed(result);
  return { ok: true, verdict: verdictOfAnswers(read(result.value), input.confidence) };
}

function failed({ code, message }: Extract<ThinkResult, { ok: false }>): Triaged {
  return { ok: false, code, message };
}

function asked(
  input: TriageInput,
): Pick<ThinkRequest, 'system_prompt' | 'messages' | 'output_schema' | 'max_output_tokens'> {
  return {
    system_prompt: triagePrompt(input.routes),
    messages: [{ role: 'user', text: situationOf(input) }],
    output_schema: verdictSchema(input.routes),
    max_output_tokens: OUTPUT_TOKENS,
  };
}

function situationOf({ earlier, goal, text }: TriageInput): string {
  const said = earlier.flatMap(lineOf).slice(-SHOWN_MESSAGES);
  return [
    ...(said.length === 0 ? [] : [`Before, in this conversation (shortened):\n${said.join('\n')}`]),
    ...(goal === null ? [] : [`The conversation has an unfinished plan: ${shortened(goal, SHOWN_CHARS)}`]),
    `The message:\n${shortened(text, MESSAGE_CHARS)}`,
  ].join('\n\n');
}

/** What people and the agent said; what tools gave says little about the next message. */
function lineOf(message: Message): string[] {
  if (message.role !== 'user' && message.role !== 'assistant') return [];
  const text = message.text.trim();
  if (text === '') return [];
  return [`${message.role === 'user' ? 'person' : 'agent'}: ${shortened(text, SHOWN_CHARS)}`];
}

function shortened(text: string, chars: number): string {
  if (text.length <= chars) return text;
  const half = Math.floor(chars / 2);
  return `${text.slice(0, half)} […] ${text.slice(-half)}`;
}
