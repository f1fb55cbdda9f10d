// Words as a search compares them: lower case, cut to their stem by length, so that forms of one word meet. Languages
// without spaces are taken in pairs of characters. Pure.

/** Longer words differ in their ends: deploy, deployed, deployment. */
const STEM = 6;
const WORD = /[\p{L}\p{N}_]+/gu;
const UNSPACED = /[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]/;

/** Say nothing about what a text is about. */
const EMPTY = new Set(
  'a an and are as at be but by can do for from has have how i if in is it me my no not of on or our so that the then this to us was we what when where which who why will with you your'.split(
    ' ',
  ),
);

/** Calls back for each word of a text, in order. */
export function eachWord(text: string, take: (word: string) => void): void {
  for (const [found] of text.matchAll(WORD)) {
    const word = found.toLowerCase();
    if (!UNSPACED.test(word)) take(word.slice(0, STEM));
    else if (word.length === 1) take(word);
    else for (let at = 0; at + 1 < word.length; at += 1) take(word.slice(at, at + 2));
  }
}

/** The words of a question that are worth looking for, each once. */
export function searchWords(query: string, most: number): string[] {
  const words = new Set<string>();
  eachWord(query, (word) => {
    if (words.size < most && !EMPTY.has(word)) words.add(word);
  });
  return [...words];
}
