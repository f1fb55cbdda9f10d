// Lets what belongs to one scope happen one after the other, in the order in which it was asked for. Scopes do not wait
// for each other, and what finds its scope free runs at once, in the same moment.

/** Called with what must be called once, when the next of the scope may go. */
type Task = (next: () => void) => void;

export class ScopeQueue {
  /** Scopes at work, each with who waits. */
  readonly #busy = new Map<string, Task[]>();

  /** `scope` null waits for nobody. */
  run(scope: string | null, task: Task): void {
    if (scope === null) {
      task(() => undefined);
      return;
    }
    const waiting = this.#busy.get(scope);
    if (waiting !== undefined) {
      waiting.push(task);
      return;
    }
    this.#busy.set(scope, []);
    this.#start(scope, task);
  }

  #start(scope: string, task: Task): void {
    let over = false;
    task(() => {
      if (over) return;
      over = true;
      const following = this.#busy.get(scope)?.shift();
      if (following === undefined) this.#busy.delete(scope);
      else this.#start(scope, following);
    });
  }
}
