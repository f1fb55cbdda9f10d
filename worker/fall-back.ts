// Goes on with another model when all endpoints of the one before have failed: between two requests, never within one.
import type { ModelOutcome } from './models/provider.js';
import type { Turn } from './turn-state.js';

type Failed = Extract<ModelOutcome, { kind: 'failed' }>;

/** What another model may not suffer from. */
const OF_THE_MODEL: ReadonlySet<string> = new Set([
  'model_unreachable',
  'model_rate_limited',
  'model_quota_exhausted',
]);

/** True when the turn has another model to ask now. */
export function fallBack(turn: Turn, { code, message }: Failed): boolean {
  if (!OF_THE_MODEL.has(code)) return false;
  const settings = turn.snapshot.fallbacks?.[turn.fallen];
  const credentials = turn.given.fallbacks?.[turn.fallen];
  if (settings === undefined || credentials === undefined) return false;
  turn.link.progress({
    event: 'model_fallback',
    from: turn.settings.model,
    to: settings.model,
    reason: message,
  });
  turn.fallen += 1;
  turn.settings = settings;
  turn.credentials = { ...credentials, mask: turn.given.mask };
  turn.provider = turn.providerOf?.(settings) ?? turn.provider;
  // Another server cannot read what this one sealed, even under the same name.
  for (const [index, message] of turn.history.entries()) {
    if (message.role !== 'assistant' || message.reasoning === undefined) continue;
    const { reasoning: _sealed, ...rest } = message;
    turn.history[index] = rest;
  }
  return true;
}

/** Whether anybody needs to know how the endpoints fare. */
export function hasAnotherWay({ settings, snapshot }: Turn): boolean {
  return (settings.urls ?? []).length > 0 || (snapshot.fallbacks ?? []).length > 0;
}
