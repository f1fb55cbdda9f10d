// The characters that windows-1252 has where Unicode has control characters. Pages mean these when they name the codes.

const CHARACTERS = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ';
const FIRST = 0x80;

/** Text in which codes 0x80 to 0x9f were read as they are, with what they mean. */
export function asWestern(text: string): string {
  return text.replace(/[\u0080-\u009f]/g, (control) => CHARACTERS[control.charCodeAt(0) - FIRST] ?? control);
}
