// What the tools `think` and `decide` do: a question to the model of their role, and its answer as a tool result.
import type * as v from 'valibot';
import type { JsonObject } from '../../shared/json.js';
import { type decideParams, nameOf, type thinkParams } from '../../shared/tools/thought-tools.js';
import { type ToolResult, toolError } from '../../shared/tools/tool-result.js';
import { asDecision, type Decision } from './decision.js';
import type { Thinker, ThinkResult } from './thinker.js';

/** Enough for a page of careful reasoning or a large JSON answer. */
const THINK_TOKENS = 8_192;
const THINK_MS = 5 * 60_000;
const DECIDE_TOKENS = 2_048;
const DECIDE_MS = 2 * 60_000;

const HOW_TO_THINK =
  'You are asked to think about one thing and to answer it. You have no tools and see nothing but the prompt. Think it through, then answer what is asked, as briefly as completeness allows. Where you are not sure, say so.';

/** What can answer for a role: no model that could, one that writes, or one that only decides. */
export type RoleKind = 'nobody' | 'chat' | 'decision';

export interface ThoughtPorts {
  readonly thinker: Thinker;
  kindOf(role: 'think' | 'decide'): RoleKind;
  /** Below it an answer of `decide` is unsure. */
  readonly confidence: number;
}

export interface Payer {
  readonly turnId: string;
  readonly threadId: string;
  readonly principal: string;
}

export type ThoughtTool = (
  ports: ThoughtPorts,
  payer: Payer,
  args: JsonObject,
  signal: AbortSignal,
) => Promise<ToolResult>;

const NOBODY = toolError(
  'no model is configured that could answer: the built-in model only follows simple commands',
);

/** `args` have passed the params of the tool. */
export const thinkAbout: ThoughtTool = async (ports, payer, args, signal) => {
  const { prompt, output_schema } = args as v.InferOutput<typeof thinkParams>;
  if (ports.kindOf('think') === 'nobody') return NOBODY;
  const result = await ports.thinker.think(
    {
      ...payer,
      purpose: 'think',
      system_prompt: HOW_TO_THINK,
      messages: [{ role: 'user', text: prompt }],
      ...(output_schema === undefined ? {} : { output_schema }),
      max_output_tokens: THINK_TOKENS,
      deadline_ms: THINK_MS,
    },
    signal,
  );
  return result.ok ? { content: result.value, is_error: false } : failed(result);
};

/** `args` have passed the params of the tool. */
export const decideOn: ThoughtTool = async (ports, payer, args, signal) => {
  const kind = ports.kindOf('decide');
  if (kind === 'nobody') return NOBODY;
  const decision = decisionOf(args as v.InferOutput<typeof decideParams>);
  const { read, ...asked } = asDecision(decision, kind === 'decision');
  const result = await ports.thinker.think(
    { ...payer, ...asked, purpose: 'decide', max_output_tokens: DECIDE_TOKENS, deadline_ms: DECIDE_MS },
    signal,
  );
  if (!result.ok) return failed(result);
  const given = read(result.value);
  const answers = decision.questions.map(({ name }) => {
    const { answer = null, confidence = 0 } = given.get(name) ?? {};
    return [name, { answer, confidence, sure: answer !== null && confidence >= ports.confidence }] as const;
  });
  return { content: { answers: Object.fromEntries(answers) }, is_error: false };
};

function decisionOf({ situation, questions }: v.InferOutput<typeof decideParams>): Decision {
  return {
    situation,
    questions: questions.map(({ name, question, choices }) => ({
      name,
      ask: question,
      choices:
        choices?.map((given) => ({
          name: nameOf(given),
          meaning: typeof given === 'string' ? '' : (given.meaning ?? ''),
        })) ?? null,
    })),
  };
}

function failed({ code, message }: Extract<ThinkResult, { ok: false }>): ToolResult {
  return toolError(message, { code });
}
