// The known name nearest to a misspelt one, or nothing when none is near enough to be worth saying. Pure.

/** Edits between two words; swapping two neighbours counts once, because that is how fingers slip. */
function distance(left: string, right: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let best = Math.min(
        (last[column] ?? 0) + 1,
        (current[column - 1] ?? 0) + 1,
        (last[column - 1] ?? 0) + (same ? 0 : 1),
      );
      const swapped = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && swapped) best = Math.min(best, (beforeLast[column - 2] ?? 0) + 1);
      current.push(best);
    }
    beforeLast = last;
    last = current;
  }
  return last[right.length] ?? 0;
}

/** By default a third of a word may be wrong, and at least two letters; more is another word. */
export function nearest(
  word: string,
  known: Iterable<string>,
  editsMax = Math.max(2, Math.floor(word.length / 3)),
): string | undefined {
  // Long words cost the square of their length, and no key of ours is long.
  if (word.length > 100) return undefined;
  let best: string | undefined;
  let bestDistance = editsMax + 1;
  for (const candidate of known) {
    const edits = distance(word.toLowerCase(), candidate.toLowerCase());
    if (edits < bestDistance && edits < candidate.length) {
      best = candidate;
      bestDistance = edits;
    }
  }
  return best;
}
