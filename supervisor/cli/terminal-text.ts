// Stored text on its way to a terminal: lines stay lines, and nothing in it can move the cursor, hide or reorder text.

const INVISIBLE =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

export function terminalText(text: string): string {
  return text
    .replaceAll('\r\n', '\n')
    .replaceAll(INVISIBLE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same with every line after the first one moved in. */
export function indented(text: string, by: string): string {
  return terminalText(text).replaceAll('\n', `\n${by}`);
}
