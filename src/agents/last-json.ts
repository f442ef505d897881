/** Deeper than any report. Later readers may recurse. */
const DEEPEST = 200;

/**
 * The last JSON object in a text with anything else in it: log lines, fences, braces. Only an outermost object
 * counts: one inside an object that was never closed, or that is no JSON, is part of something broken, and an
 * unclosed one at the end means that the last object is broken. `cut`: the text is the end of a longer one, so what
 * continues with `,` `]` or `}` may belong to what was cut off. Takes one pass over the text.
 */
export function lastJsonObject(text: string, { cut = false } = {}): Record<string, unknown> | undefined {
  let last: Span | undefined;
  for (const found of outermostObjects(text)) {
    if (found === 'unclosed') return undefined;
    last = found;
  }
  if (last === undefined || last.deep) return undefined;
  if (cut && /^[,\]}]/.test(text.slice(last.end).trimStart())) return undefined;
  return parse(text, last);
}

/** Every outermost object, as `lastJsonObject` defines it, whose text matches. */
export function* jsonObjects(text: string, pattern: RegExp): Generator<Record<string, unknown>> {
  for (const found of outermostObjects(text)) {
    if (found === 'unclosed') return;
    if (!found.deep && pattern.test(text.slice(found.start, found.end))) yield parse(text, found);
  }
}

interface Span {
  readonly start: number;
  readonly end: number;
  readonly deep: boolean;
}

function* outermostObjects(text: string): Generator<Span | 'unclosed'> {
  let at = text.indexOf('{');
  while (at !== -1) {
    const found = scanObject(text, at);
    if (found.kind === 'whole') yield { start: at, end: found.end, deep: found.depth > DEEPEST };
    if (found.kind === 'unclosed') {
      yield 'unclosed';
      return;
    }
    at = text.indexOf('{', found.end);
  }
}

function parse(text: string, { start, end }: Span): Record<string, unknown> {
  return JSON.parse(text.slice(start, end)) as Record<string, unknown>;
}

type ScanResult =
  | { readonly kind: 'whole'; readonly end: number; readonly depth: number }
  /** Nothing before `end` is or begins an outermost object. */
  | { readonly kind: 'no-json'; readonly end: number }
  | { readonly kind: 'unclosed' };

/** What may come next. */
type NextToken = 'key or }' | 'key' | ':' | 'value or ]' | 'value' | ', or close';

/** The grammar of RFC 8259 with a stack instead of recursion, so that nesting is cheap. */
function scanObject(text: string, start: number): ScanResult {
  const open: ('{' | '[')[] = ['{'];
  let depth = 1;
  let expected: NextToken = 'key or }';
  let at = skipSpace(text, start + 1);
  // A lone brace at the end is no object yet.
  if (at >= text.length) return { kind: 'no-json', end: at };
  for (; at < text.length; at = skipSpace(text, at)) {
    const char = text[at]!;
    const closes = char === '}' ? '{' : char === ']' ? '[' : undefined;
    if (closes !== undefined) {
      if (!mayClose(expected, char) || open.pop() !== closes) return { kind: 'no-json', end: at };
      at++;
      if (open.length === 0) return { kind: 'whole', end: at, depth };
      expected = ', or close';
    } else if (expected === ':' || expected === ', or close') {
      if (char !== expected[0]) return { kind: 'no-json', end: at };
      expected = expected === ':' || open.at(-1) === '[' ? 'value' : 'key';
      at++;
    } else if ((char === '{' || char === '[') && (expected === 'value' || expected === 'value or ]')) {
      open.push(char);
      depth = Math.max(depth, open.length);
      expected = char === '{' ? 'key or }' : 'value or ]';
      at++;
    } else {
      const isKey: boolean = expected === 'key' || expected === 'key or }';
      if (isKey && char !== '"') return { kind: 'no-json', end: at };
      const token = char === '"' ? scanString(text, at) : scanWord(text, at);
      if (token.kind === 'cut') return { kind: 'unclosed' };
      if (token.kind === 'bad') return { kind: 'no-json', end: token.end };
      expected = isKey ? ':' : ', or close';
      at = token.end;
    }
  }
  return { kind: 'unclosed' };
}

function mayClose(expected: NextToken, char: string): boolean {
  return expected === ', or close' || (char === '}' ? expected === 'key or }' : expected === 'value or ]');
}

type Token = { readonly kind: 'good' | 'bad'; readonly end: number } | { readonly kind: 'cut' };

function scanString(text: string, start: number): Token {
  for (let at = start + 1; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 0x22) return { kind: 'good', end: at + 1 };
    if (code < 0x20) return { kind: 'bad', end: at };
    if (code !== 0x5c) continue;
    const escaped = text[at + 1];
    if (escaped === undefined) break;
    if (escaped === 'u') {
      const digits = text.slice(at + 2, at + 6);
      if (!/^[0-9a-fA-F]*$/.test(digits)) return { kind: 'bad', end: at + 1 };
      at += 5;
    } else {
      if (!'"\\/bfnrt'.includes(escaped)) return { kind: 'bad', end: at + 1 };
      at++;
    }
  }
  return { kind: 'cut' };
}

const WORD = /-?[0-9a-zA-Z.+-]*/y;
const VALUE = /^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?)$/;

function scanWord(text: string, start: number): Token {
  WORD.lastIndex = start;
  const word = WORD.exec(text)?.[0] ?? '';
  const end = start + word.length;
  if (VALUE.test(word)) return { kind: 'good', end };
  return end === text.length ? { kind: 'cut' } : { kind: 'bad', end };
}

function skipSpace(text: string, start: number): number {
  let at = start;
  while (at < text.length && ' \t\n\r'.includes(text[at]!)) at++;
  return at;
}
