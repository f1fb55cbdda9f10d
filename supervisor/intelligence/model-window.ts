// How much a model reads at once, where nobody says it: by its name. Too small a guess folds early, which costs little;
// too large a one is corrected by the first refusal.

const DEFAULT_WINDOW = 128_000;

const BY_NAME: readonly (readonly [RegExp, number])[] = [
  [/claude/i, 200_000],
  [/gemini|gpt-4\.1/i, 1_000_000],
];

export function windowByName(model: string): number {
  return BY_NAME.find(([pattern]) => pattern.test(model))?.[1] ?? DEFAULT_WINDOW;
}
