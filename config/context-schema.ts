// The part of the configuration that says when a conversation is folded, and how.
import { amount, count, group, optional, text } from './leaf.js';

export const compactAt = amount(
  'Part of the window of the model from which on the older part of a conversation is summarised.',
  { min: 0.1, max: 0.95 },
);

export const keepLast = count('Messages that stay word for word when the older ones are summarised.', {
  min: 2,
  max: 1_000,
});

export const maxCompactions = count(
  'Times that one turn may have its conversation summarised. After that, one that does not fit ends the turn.',
  { min: 0, max: 1_000 },
);

export const modelWindow = optional(
  count(
    'Tokens that the model reads at once. Without it: that of the declared model, else a guess by its name.',
    { min: 2_000, max: 2_000_000 },
  ),
);

export const summarize = group('How the older part of a conversation is summarised.', {
  prompt: optional(
    text('What the summary should hold, instead of the built-in guidance. Its form stays as it is.', {
      max: 64 * 1024,
    }),
  ),
});
