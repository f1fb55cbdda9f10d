// What a budget must not say: caps that cap nothing, windows that stand twice, and costs that nobody can count. Pure.
import { bookedModels } from './model-contradictions.js';
import type { Config } from './schema.js';

const BUDGET = 'intelligence.budget';

/** Pairs of a dotted path and what is wrong there. */
export function budgetContradictions(
  intelligence: Config['intelligence'],
): [path: string, message: string][] {
  const { budget } = intelligence;
  const found = budget.windows.flatMap((window, index): [string, string][] => {
    const at = `${BUDGET}.windows.${index}`;
    const wrong: [string, string][] = [];
    if (window.tokens === null && window.requests === null && window.cost === null)
      wrong.push([at, 'caps nothing: give tokens, requests or cost']);
    if (budget.windows.findIndex(({ per }) => per === window.per) !== index)
      wrong.push([`${at}.per`, `stands twice: give one window per ${window.per}`]);
    if (window.reset !== null && window.per !== 'day' && window.per !== 'week')
      wrong.push([`${at}.reset`, 'only a window per day or week starts at a time of day']);
    return wrong;
  });
  if (budget.scope.length === 0) found.push([`${BUDGET}.scope`, 'names nobody to count for']);
  if (budget.on_exhausted === 'degrade' && budget.degrade_model === null)
    found.push([`${BUDGET}.on_exhausted`, `degrade needs a model: set ${BUDGET}.degrade_model`]);
  return [...found, ...unpriced(intelligence)];
}

/** A model that is only found at start is checked there. */
function unpriced(intelligence: Config['intelligence']): [string, string][] {
  const { budget, prices } = intelligence;
  const capped = [
    ...budget.windows.flatMap(({ cost }, index) =>
      cost === null ? [] : [`${BUDGET}.windows.${index}.cost`],
    ),
    ...(budget.lifetime.cost === null ? [] : [`${BUDGET}.lifetime.cost`]),
  ];
  const [first] = capped;
  if (first === undefined) return [];
  const named = bookedModels(intelligence);
  const models = budget.on_exhausted === 'degrade' ? [...named, budget.degrade_model] : named;
  return models
    .filter((name) => name !== null)
    .filter((name) => !Object.hasOwn(prices, name))
    .map((name) => [first, `nobody knows what ${name} costs: give its price in intelligence.prices`]);
}
