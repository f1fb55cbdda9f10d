// Notices a model that writes the same thing over and over ("yes, yes, yes, …") while it still writes, so that the
// stream can be stopped long before the budget is gone. Cheap: one linear pass over a fixed window every so often.

/** So much text must be one repeated piece before it counts; an honest ruler, table or list stays below. */
const WINDOW = 8_192;
/** Characters between two looks. */
const STEP = 1_024;
/** The piece must fit this often into the window. */
const LEAST_TIMES = 8;

export class RepetitionWatch {
  #tail = '';
  #fresh: string[] = [];
  #freshLength = 0;

  /** Takes what was just written; gives the repeated piece once the whole window is made of it, else null. */
  push(text: string): string | null {
    this.#fresh.push(text);
    this.#freshLength += text.length;
    if (this.#freshLength < STEP) return null;
    this.#tail = (this.#tail + this.#fresh.join('')).slice(-WINDOW);
    this.#fresh = [];
    this.#freshLength = 0;
    if (this.#tail.length < WINDOW) return null;
    const period = periodOf(this.#tail);
    return period <= WINDOW / LEAST_TIMES ? this.#tail.slice(0, period) : null;
  }
}

/** Length of the shortest piece of which `text` is a repetition (the last one may be cut), by its border table. */
function periodOf(text: string): number {
  const borders = new Int32Array(text.length);
  let border = 0;
  for (let index = 1; index < text.length; index += 1) {
    while (border > 0 && text.charCodeAt(index) !== text.charCodeAt(border))
      border = borders[border - 1] ?? 0;
    if (text.charCodeAt(index) === text.charCodeAt(border)) border += 1;
    borders[index] = border;
  }
  return text.length - border;
}
