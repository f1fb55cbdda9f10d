// Which passages of many texts fit a question best: by how often its words stand in them, how rare those words are, and
// how long the passage is (BM25). Keeps only passages with a word of the question, and not more than fit its bound. Pure.
import { eachWord } from './words.js';

export interface Passage {
  readonly source: string;
  readonly text: string;
}

interface Scored extends Passage {
  readonly counts: readonly number[];
  readonly words: number;
}

const PASSAGE_CHARS = 1_200;
/** Text of all candidates together. */
const KEPT_CHARS = 16 * 1024 * 1024;
const SATURATION = 1.2;
const LENGTH_WEIGHT = 0.75;

export class Ranking {
  readonly #words: ReadonlyMap<string, number>;
  readonly #found: Scored[] = [];
  /** In how many passages each word stands. */
  readonly #spread: number[];
  #passages = 0;
  #length = 0;
  #kept = 0;

  constructor(words: readonly string[]) {
    this.#words = new Map(words.map((word, index) => [word, index]));
    this.#spread = words.map(() => 0);
  }

  add(source: string, text: string): void {
    for (const passage of passagesOf(text)) this.#weigh(source, passage);
  }

  /** Best first; equal ones in the order in which they came. */
  best(most: number): Passage[] {
    return this.#found
      .map((passage) => ({ passage, score: this.#score(passage) }))
      .sort((left, right) => right.score - left.score)
      .slice(0, most)
      .map(({ passage: { source, text } }) => ({ source, text }));
  }

  #weigh(source: string, text: string): void {
    const counts = this.#spread.map(() => 0);
    let words = 0;
    let hit = false;
    eachWord(text, (word) => {
      words += 1;
      const index = this.#words.get(word);
      if (index === undefined) return;
      hit = true;
      counts[index] = (counts[index] ?? 0) + 1;
    });
    if (words === 0) return;
    this.#passages += 1;
    this.#length += words;
    if (!hit) return;
    for (const [index, count] of counts.entries())
      if (count > 0) this.#spread[index] = (this.#spread[index] ?? 0) + 1;
    this.#kept += text.length;
    if (this.#kept <= KEPT_CHARS) this.#found.push({ source, text, counts, words });
  }

  #score({ counts, words }: Scored): number {
    const mean = this.#length / this.#passages;
    const norm = SATURATION * (1 - LENGTH_WEIGHT + (LENGTH_WEIGHT * words) / mean);
    return counts.reduce((sum, count, index) => {
      const spread = this.#spread[index] ?? 0;
      const rarity = Math.log(1 + (this.#passages - spread + 0.5) / (spread + 0.5));
      return sum + (rarity * count * (SATURATION + 1)) / (count + norm);
    }, 0);
  }
}

/** Paragraphs, joined while they are short and cut where they are long. */
function* passagesOf(text: string): Generator<string> {
  let held = '';
  for (const paragraph of text.split(/\n\s*\n/)) {
    if (held !== '' && held.length + paragraph.length > PASSAGE_CHARS) {
      yield held.trim();
      held = '';
    }
    held = held === '' ? paragraph : `${held}\n\n${paragraph}`;
    while (held.length > PASSAGE_CHARS) {
      const end = cutAt(held);
      yield held.slice(0, end).trim();
      held = held.slice(end);
    }
  }
  if (held.trim() !== '') yield held.trim();
}

/** At the last line end or space before the bound, if there is one not too far back. */
function cutAt(text: string): number {
  for (const mark of ['\n', ' ']) {
    const at = text.lastIndexOf(mark, PASSAGE_CHARS);
    if (at > PASSAGE_CHARS / 2) return at;
  }
  return PASSAGE_CHARS;
}
