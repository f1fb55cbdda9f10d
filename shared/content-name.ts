// A short name for a text by its content. Two lanes of multiply-and-mix over the characters: 64 bits that tell texts
// apart without loading the host's crypto module, which costs a short job more than the rest of its bookkeeping.

const LANES = [0x9e3779b1, 0x85ebca6b] as const;

function mix(seed: number, text: string): number {
  let state = seed;
  for (let index = 0; index < text.length; index += 1) {
    state = Math.imul(state ^ text.charCodeAt(index), 0x5bd1e995);
    state = (state << 13) | (state >>> 19);
  }
  state ^= text.length;
  state = Math.imul(state ^ (state >>> 16), 0xc2b2ae35);
  return (state ^ (state >>> 13)) >>> 0;
}

/** 16 hexadecimal digits; equal texts have equal names. For recognising, never for trusting. */
export function contentName(text: string): string {
  return LANES.map((seed) => mix(seed, text).toString(16).padStart(8, '0')).join('');
}
