// Reads what `turn/start` asks for into what the engine takes. What is part of the protocol and not here yet is refused
// in words: a turn must not run with less, or more, than its sender asked for.
import { createHash } from 'node:crypto';
import { canonicalJson, type JsonValue } from '../../shared/json.js';
import type { TurnStartParams } from '../../shared/protocol/turn.js';
import type { ThreadMode, UserInput } from '../../shared/protocol/turn-input.js';
import type { TurnOptions } from '../store/rows.js';
import { type ModelNames, Refused } from './ports.js';
import { quoted } from './views.js';

/** Names a request by all that it says: sent again, it is the same delivery. */
export function deliveryName(params: TurnStartParams, principal: string): string {
  // Absent and null say the same.
  const said = JSON.parse(JSON.stringify(params, (_key, value: unknown) => value ?? undefined)) as JsonValue;
  const text = canonicalJson([principal, said]);
  return `start_${createHash('sha256').update(text).digest('hex')}`;
}

/** Texts, one below the other; what is mentioned stands there by name. */
export function messageText(input: readonly UserInput[]): string {
  const text = input.map(lineOf).join('\n');
  if (text.trim() === '') throw new Refused('invalid_params', 'the message is empty');
  return text;
}

function lineOf(part: UserInput): string {
  if (part.type === 'text') return part.text;
  if (part.type === 'mention') return `mention: ${part.name}`;
  throw new Refused('not_available', `input of type ${part.type} cannot be taken yet; send text`);
}

export function optionsOf(params: TurnStartParams, own: ModelNames, threadMode: ThreadMode): TurnOptions {
  refuseForeign(params, own);
  const mode = params.permission_profile?.mode;
  return {
    ...(mode === undefined ? {} : { permission_mode: mode }),
    ...(params.model == null || params.model === own.name ? {} : { model: params.model }),
    ...((params.mode ?? threadMode) === 'Chat' ? { tools: [] } : {}),
  };
}

function refuseForeign(
  { capabilities, execution_backend: backend, model, model_provider: provider }: TurnStartParams,
  own: ModelNames,
): void {
  const [first] = capabilities;
  if (first !== undefined)
    throw new Refused('not_available', `capability ${quoted(first.id)}: there are no skills or MCP servers`);
  if (backend != null && backend.type !== 'apiProvider')
    throw new Refused('not_available', `execution backend ${backend.type} is not supported`);
  const named = backend?.provider ?? provider;
  if (named != null && named !== own.provider)
    throw new Refused(
      'not_available',
      `there is no provider ${quoted(named)}; it is ${quoted(own.provider)}`,
    );
  if (model != null && model !== own.name && !own.others.includes(model))
    throw new Refused('not_available', `there is no model ${quoted(model)}; it is ${quoted(own.name)}`);
}
