/** A character that was escaped without need: `%73`, `\\u0073`, `\\x73`, `\\163`, `&#115;`, `=73`. */
const ESCAPE =
  /\\{1,8}(?:u00([\da-f]{2})|x([\da-f]{2})|([01][0-7]{2}))|%(?:25){0,2}([\da-f]{2})|&(?:amp;){0,2}#(?:x0{0,2}([\da-f]{2})|0{0,2}(\d{2,3}));|=([\da-f]{2})/iy;

/** The beginning of an escape at the end of the text. */
const CUT_ESCAPE =
  /(?:\\{1,8}(?:u0{0,2}[\da-f]?|x[\da-f]?|[01]?[0-7]?)|%(?:25){0,2}[\da-f]?|&(?:amp;){0,2}(?:a|am|amp|#(?:x?0{0,2}[\da-f]{0,3}))?|=[\da-f]?)$/iy;

/** The two characters that escapes begin with. */
export const ESCAPE_PAIRS: readonly string[] = [
  ...['\\\\', '\\u', '\\U', '\\x', '\\X', '\\0', '\\1', '&#', '&a', '&A'],
  ...[...'234567'].flatMap((digit) => [`%${digit}`, `=${digit}`]),
];

/** The character that is escaped here; `cut` if the text ends in the middle of an escape. */
export function escapeAt(text: string, at: number): { character: string; end: number } | 'cut' | undefined {
  if (!'\\%&='.includes(text[at] ?? ' ')) return undefined;
  ESCAPE.lastIndex = at;
  const found = ESCAPE.exec(text);
  if (found) {
    const [, unicode, hex, octal, url, hexHtml, html, mail] = found;
    const digits = unicode ?? hex ?? url ?? hexHtml ?? mail;
    const code = digits ? parseInt(digits, 16) : octal ? parseInt(octal, 8) : Number(html);
    return { character: String.fromCharCode(code), end: ESCAPE.lastIndex };
  }
  CUT_ESCAPE.lastIndex = at;
  return CUT_ESCAPE.test(text) ? 'cut' : undefined;
}
