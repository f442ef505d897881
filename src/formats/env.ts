import { parseEnv as parseDotenv } from 'node:util';
import { NightshiftError } from '../core/model/errors.ts';

const ENTRY = /^[ \t]*(?:export[ \t]+)?([^=\r\n]*?)[ \t]*=[ \t]*/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The prefix of the variables that the engine sets for scripts and agents. */
const RESERVED = 'NIGHTSHIFT_';

/**
 * The variables of a `.env` file; the last value of a name wins. Node parses the values, one entry at a time: given
 * the whole file, it silently skips what it does not understand and joins unrelated lines. Errors never quote the
 * file: even the text before a `=` may be a line of a private key.
 */
export function parseEnv(text: string, file: string): Map<string, string> {
  const variables = new Map<string, string>();
  const nul = text.indexOf('\0');
  if (nul !== -1) throw bad('a NUL character', 'remove it', file, lineAt(text, nul));
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at < text.length) {
    const end = lineEnd(text, at);
    const line = text.slice(at, end).trim();
    if (line === '' || line.startsWith('#')) {
      at = end + 1;
      continue;
    }
    const entry = readEntry(text, at, file);
    variables.set(entry.name, entry.value);
    at = entry.end + 1;
  }
  return variables;
}

function readEntry(text: string, start: number, file: string): { name: string; value: string; end: number } {
  const line = lineAt(text, start);
  const [head, name] = ENTRY.exec(text.slice(start, lineEnd(text, start))) ?? [];
  if (head === undefined || name === undefined) {
    throw bad(
      'this line is not KEY=VALUE',
      'put a value of several lines in quotes; begin a comment with #',
      file,
      line,
    );
  }
  if (!NAME.test(name)) {
    throw bad('this line does not begin with the name of a variable', 'a name has letters, digits and _', file, line);
  }
  if (name.startsWith(RESERVED)) {
    throw bad(`${name} begins with ${RESERVED}, which is reserved`, 'choose another name', file, line);
  }
  const end = valueEnd(text, start + head.length, file);
  const values = parseDotenv(text.slice(start, end));
  const value = Object.hasOwn(values, name) ? values[name] : undefined;
  if (value === undefined) throw bad(`the value of ${name} cannot be read`, 'put it in quotes', file, line);
  return { name, value, end };
}

/** The end of the last line of the value that begins at `start`; a quoted value may have several lines. */
function valueEnd(text: string, start: number, file: string): number {
  const quote = text[start];
  const close = quote !== undefined && '"\'`'.includes(quote) ? text.indexOf(quote, start + 1) : -1;
  if (close === -1) return lineEnd(text, start);
  const end = lineEnd(text, close);
  if (/^\s*(#.*)?$/s.test(text.slice(close + 1, end))) return end;
  // Node would drop the rest and dotenv would keep it, so reject it.
  const hint = `a value in ${quote} cannot hold ${quote}: put it in another kind of quotes (" ' \`)`;
  throw bad('text after the closing quote', hint, file, lineAt(text, close));
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function bad(message: string, hint: string, file: string, line: number): NightshiftError {
  return new NightshiftError('bad-env', message, hint, { file, line });
}
