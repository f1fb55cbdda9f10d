// Reports the breaches of a rule one by one, so that a failing run reads like a list of things to do.
import type { Test } from 'tap';

export function holds(t: Test, breaches: readonly string[]): void {
  for (const breach of breaches) t.fail(breach);
  t.equal(breaches.length, 0, 'the rule holds for the whole project');
}
