/** C0, DEL and C1 controls and bidirectional controls: what a cell or an agent could mislead a terminal with. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that must not reach a terminal
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/g;

/** Makes text from cells and agents safe for a terminal (rule S9); line breaks and tabs stay. */
export function printable(text: string): string {
  return text.replace(/\r\n/g, '\n').replace(UNSAFE, '\uFFFD');
}

/** Written as JSON escapes: in JSON the value stays the same, and a reader sees what was there. */
export function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** The same as one line of at most `length` characters. */
export function oneLine(text: string, length = 300): string {
  const line = printable(text).replace(/\s+/g, ' ').trim();
  return line.length > length ? `${line.slice(0, length - 1)}…` : line;
}
