// The built-in offline model: a provider like any other, behind the same contract, without a network. It reads the
// newest message by a small grammar, asks for tool calls over as many rounds as the request needs, and answers from
// their results. It says what it is in every answer.
import type { Clock } from '../../../shared/clock.js';
import { estimateRequest, estimateTokens } from '../../../shared/transcript/estimate-tokens.js';
import type { Message } from '../../../shared/transcript/message.js';
import type {
  ModelAnswer,
  ModelEvent,
  ModelOutcome,
  ModelProvider,
  ModelRequest,
  RawCall,
} from '../provider.js';
import { parseRequest } from './parse.js';
import type { Ask } from './plan.js';
import { type Move, nextMove } from './replay.js';
import { requestPlan } from './request-plan.js';

const BUILTIN_MODEL = 'builtin';

/** Text goes out in pieces of about this many characters, so that whoever watches sees it arrive as from any model. */
const PIECE = 400;

export function builtinProvider(clock: Clock): ModelProvider {
  return {
    async call(request, onEvent, signal): Promise<ModelOutcome> {
      if (signal.aborted) return { kind: 'aborted' };
      if (request.output_schema !== undefined)
        return {
          kind: 'failed',
          code: 'model_rejected',
          message:
            'The built-in offline model gives prose only and cannot answer in the shape of a schema; configure a model for that.',
          charged: null,
        };
      const until = clock.monotonic() + request.deadline_ms;
      const answer = answerTo(request);
      if (signal.aborted) return { kind: 'aborted' };
      if (clock.monotonic() >= until) return { kind: 'timeout' };
      tell(answer.text, onEvent);
      return { kind: 'answer', answer };
    },
    // There is nothing to connect to.
    preconnect: () => Promise.resolve(false),
    close: () => undefined,
  };
}

function answerTo(request: ModelRequest): ModelAnswer {
  const { messages, tools } = request;
  const at = messages.findLastIndex((message) => message.role === 'user');
  const message: Message | undefined = messages[at];
  const text = message?.role === 'user' ? message.text : '';
  const move = nextMove(requestPlan(parseRequest(text)), messages.slice(at + 1), tools);
  const calls = callsOf(move, request, messages.length);
  const reply = move.kind === 'answer' ? move.told.text : '';
  const output = reply + calls.map((call) => call.wire_name + call.arguments_text).join('');
  return {
    text: reply,
    calls,
    reasoning: [],
    stop: calls.length > 0 ? 'tool_calls' : 'end',
    usage: {
      input_tokens: estimateRequest(request.system_prompt, messages, tools),
      output_tokens: estimateTokens(output),
      cached_tokens: 0,
      estimated: true,
    },
    model: BUILTIN_MODEL,
  };
}

function callsOf(move: Move, request: ModelRequest, round: number): RawCall[] {
  if (move.kind === 'answer') return [];
  return move.asks.map((one, index) => ({
    provider_id: `builtin_${round}_${index}`,
    wire_name: wireNameOf(one, request),
    arguments_text: JSON.stringify(one.arguments),
  }));
}

/** `nextMove` asks only for tools that the request has. */
function wireNameOf(one: Ask, request: ModelRequest): string {
  return request.tools.find((tool) => tool.name === one.tool)?.wire_name ?? one.tool;
}

function tell(text: string, onEvent: (event: ModelEvent) => void): void {
  const chars = [...text];
  for (let at = 0; at < chars.length; at += PIECE)
    onEvent({ kind: 'text', text: chars.slice(at, at + PIECE).join('') });
}
