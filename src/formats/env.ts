import { parseEnv as parseDotenv } from 'node:util';
import { NightshiftError } from '../core/model/errors.ts';

const ENTRY = /^[ \t]*(?:export[ \t]+)?([^=\r\n]*?)[ \t]*=[ \t]*/;
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** The engine speaks to scripts and agents through variables of this name. */
const RESERVED = 'NIGHTSHIFT_';

/**
 * The variables of a `.env` file; of a name that stands twice the last value counts. Node reads the values, entry by
 * entry: given the whole file, it silently skips what it does not understand and joins lines that do not belong
 * together. No error quotes the file: even what stands before a `=` may be a line of a private key.
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
      'a value of several lines stands in quotes; a comment begins with #',
      file,
      line,
    );
  }
  if (!NAME.test(name)) {
    throw bad('this line does not begin with the name of a variable', 'letters, digits and _ make a name', file, line);
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

/** Where the last line of the value that begins at `start` ends: a quoted one may have several. */
function valueEnd(text: string, start: number, file: string): number {
  const quote = text[start];
  const close = quote !== undefined && '"\'`'.includes(quote) ? text.indexOf(quote, start + 1) : -1;
  if (close === -1) return lineEnd(text, start);
  const end = lineEnd(text, close);
  if (/^\s*(#.*)?$/s.test(text.slice(close + 1, end))) return end;
  // Node would drop the rest, dotenv would keep it: whoever wrote this meant something else than one of them reads.
  const hint = `a value in ${quote} cannot hold ${quote}: put it in another kind of quotes (" ' \`)`;
  throw bad('text behind the closing quote', hint, file, lineAt(text, close));
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
