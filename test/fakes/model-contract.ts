// The words in which the provider contract is tested: one test for each dialect, and what is looked at in an outcome.
import assert from 'node:assert';
import t, { type Test } from 'tap';
import { DIALECTS } from '../../shared/ipc/turn-snapshot.js';
import type { ModelAnswer } from '../../worker/models/provider.js';
import { type Bench, type BenchOptions, modelBench, type Told } from './model-call.js';
import type { FakeStep, HttpDialect } from './model-steps.js';

const OVER_HTTP = DIALECTS.filter((dialect) => dialect !== 'builtin');

/** Registers the test once for each dialect. */
export function forEveryDialect(name: string, body: (t: Test, dialect: HttpDialect) => Promise<void>): void {
  for (const dialect of OVER_HTTP) t.test(`${dialect}: ${name}`, (sub) => body(sub, dialect));
}

/** A bench that closes with its test. */
export async function scripted(
  sub: Test,
  dialect: HttpDialect,
  script: readonly FakeStep[],
  options: Omit<BenchOptions, 'dialect' | 'script'> = {},
): Promise<Bench> {
  const bench = await modelBench({ ...options, dialect, script });
  sub.teardown(() => bench.close());
  return bench;
}

export function answerOf(told: Told): ModelAnswer {
  if (told.outcome.kind !== 'answer') assert.fail(JSON.stringify(told.outcome));
  return told.outcome.answer;
}

export function failureOf(told: Told): { code: string; message: string } {
  if (told.outcome.kind !== 'failed') assert.fail(JSON.stringify(told.outcome));
  return told.outcome;
}

/** All text deltas in a row. */
export function textOf(told: Told): string {
  return told.events.map((event) => (event.kind === 'text' ? event.text : '')).join('');
}

/** Kinds of all events but text. */
export function kindsOf(told: Told): string[] {
  return told.events.map((event) => event.kind).filter((kind) => kind !== 'text');
}
