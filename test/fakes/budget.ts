// A configuration with a budget, of which a test says only what matters to it.

import type { BudgetWindow } from '../../config/budget-schema.js';
import { DEFAULTS } from '../../config/defaults.js';
import type { Config } from '../../config/schema.js';

type Intelligence = Config['intelligence'];

export function window(per: BudgetWindow['per'], caps: Partial<BudgetWindow>): BudgetWindow {
  return { per, tokens: null, requests: null, cost: null, reset: null, ...caps };
}

export function budget(
  change: Partial<Intelligence['budget']>,
  prices: Intelligence['prices'] = {},
): Intelligence {
  return { ...DEFAULTS.intelligence, prices, budget: { ...DEFAULTS.intelligence.budget, ...change } };
}
