// From a request to its answer: finds the row of the method, checks the params, waits for the scope, calls the handler.
// The only catch-all of the edge: what nobody foresaw becomes `internal_error` with an id that the log knows.
import * as v from 'valibot';
import type { Clock } from '../../shared/clock.js';
import { type Failure, TurndError } from '../../shared/errors.js';
import { newId } from '../../shared/ids.js';
import { errorText, type Request, responseText } from '../../shared/protocol/envelope.js';
import { comesLater, isMethod, METHODS, type Method, type MethodRow } from '../../shared/protocol/methods.js';
import { type Call, type Handlers, Refused } from '../handlers/ports.js';
import type { Logger } from '../observe/logger.js';
import { ScopeQueue } from './scope-queue.js';

/** The connection that a request came by. */
export interface Asker extends Omit<Call, 'release'> {
  /** Keeps notifications back until the returned function is called. */
  hold(): () => void;
  answer(text: string): void;
}

interface RouterParts {
  readonly handlers: Handlers;
  readonly clock: Clock;
  readonly logger: Logger;
}

type AnyHandler = (params: unknown, call: Call) => unknown;

export class Router {
  readonly #parts: RouterParts;
  readonly #scopes = new ScopeQueue();

  constructor(parts: RouterParts) {
    this.#parts = parts;
  }

  /** Answers by `asker.answer`, now or later; `done` is called after it. */
  handle({ id, method, params }: Request, asker: Asker, done: () => void): void {
    const checked = checkedParams(method, params);
    if (!checked.ok) {
      this.refuse(id, checked.failure, asker);
      done();
      return;
    }
    const { method: known, value } = checked;
    this.#scopes.run(scopeOf(METHODS[known], value), (next) => {
      this.#call({ id, known, value }, asker, next, done);
    });
  }

  refuse(id: string | null, failure: Failure, asker: Pick<Asker, 'answer'>): void {
    asker.answer(errorText(id, failure, newId('incident', this.#parts.clock.now())));
  }

  #call(
    { id, known, value }: { readonly id: string; readonly known: Method; readonly value: unknown },
    asker: Asker,
    next: () => void,
    done: () => void,
  ): void {
    const unhold = asker.hold();
    const release = (): void => {
      unhold();
      next();
    };
    const end = (): void => {
      done();
      release();
    };
    const answer = (result: unknown): void => {
      asker.answer(responseText(id, result));
      end();
    };
    const fail = (error: unknown): void => {
      this.#fail(id, known, error, asker);
      end();
    };
    const handler = this.#parts.handlers[known] as AnyHandler;
    try {
      const { principal, subscribe, unsubscribe, tell } = asker;
      const result = handler(value, { principal, subscribe, unsubscribe, tell, release });
      if (result instanceof Promise) result.then(answer).catch(fail);
      else answer(result);
    } catch (error) {
      fail(error);
    }
  }

  #fail(id: string, method: Method, error: unknown, asker: Asker): void {
    if (error instanceof Refused) {
      this.refuse(id, error.failure, asker);
      return;
    }
    const incident = newId('incident', this.#parts.clock.now());
    const foreseen = error instanceof TurndError;
    const stack = error instanceof Error ? error.stack : String(error);
    this.#parts.logger.log('error', 'internal_error', { incident, method, stack });
    const failure: Failure = foreseen
      ? { code: error.code, message: error.message }
      : { code: 'internal_error', message: `internal error; the log of the daemon knows it as ${incident}` };
    asker.answer(errorText(id, failure, incident));
  }
}

type Checked =
  | { readonly ok: true; readonly method: Method; readonly value: unknown }
  | { readonly ok: false; readonly failure: Failure };

function checkedParams(method: string, given: unknown): Checked {
  if (!isMethod(method)) {
    const failure: Failure = comesLater(method)
      ? { code: 'method_unavailable', message: `this daemon does not have ${method}` }
      : { code: 'method_not_found', message: 'there is no such method' };
    return { ok: false, failure };
  }
  const parsed = v.safeParse(METHODS[method].params as v.GenericSchema, given ?? {});
  if (parsed.success) return { ok: true, method, value: parsed.output };
  const [issue] = parsed.issues;
  const where = v.getDotPath(issue);
  const what = where === null ? issue.message : `${where}: ${issue.message}`;
  return {
    ok: false,
    failure: { code: 'invalid_params', message: `invalid params for \`${method}\`: ${what}` },
  };
}

function scopeOf({ scope }: MethodRow, params: unknown): string | null {
  if (scope === 'free') return null;
  if (scope === 'daemon') return 'daemon';
  const { thread_id: threadId } = params as { readonly thread_id: string };
  return `thread:${threadId}`;
}
