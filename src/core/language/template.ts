import { NightshiftError } from '../model/errors.ts';
import type { SecretName, Text } from '../model/model.ts';
import { nearest } from '../model/names.ts';
import { dataJson, fitValues, type Insertion } from './prose.ts';

export type Placeholder =
  | { readonly kind: 'column'; readonly name: string }
  | { readonly kind: 'env'; readonly name: string }
  | { readonly kind: 'shift'; readonly name: ShiftKey };

const SHIFT_KEYS = ['FOLDER', 'NAME', 'TABLE'] as const;
type ShiftKey = (typeof SHIFT_KEYS)[number];

/** What a placeholder may name at this point of the shift. */
export interface Scope {
  /** The table's headers, and the outputs that earlier tasks declare. */
  readonly columns: ReadonlySet<string>;
  readonly env: ReadonlySet<string>;
  /** Columns that a later task fills, with that task. */
  readonly later?: ReadonlyMap<string, string>;
  /** Columns that the delivery fills, after everything else. */
  readonly delivered?: ReadonlySet<string>;
  /** The task that the text is part of. */
  readonly task?: string;
  readonly file: string;
}

/** Text of a task file, parsed once and filled in for every item. */
export interface Template {
  readonly segments: readonly (string | Placeholder)[];
}

export interface Values {
  readonly columns: Readonly<Record<string, string>>;
  readonly shift: Readonly<Record<ShiftKey, string>>;
}

/** A placeholder and its position in the text. */
export interface Occurrence {
  readonly placeholder: Placeholder;
  /** As written, with its braces. */
  readonly spelling: string;
  readonly line: number;
}

/** Throws `bad-placeholder` if a placeholder names nothing (rule V2). */
export function parseTemplate(text: string, scope: Scope, firstLine: number): Template {
  const segments = scanText(text, scope, firstLine);
  return { segments: segments.map((segment) => (typeof segment === 'string' ? segment : segment.placeholder)) };
}

/** A template as it is written, for people: with placeholders, and without the values of secrets. */
export function templateText({ segments }: Template): string {
  const spell = ({ kind, name }: Placeholder) => (kind === 'column' ? `{${name}}` : `{${kind.toUpperCase()}:${name}}`);
  return segments.map((segment) => (typeof segment === 'string' ? segment : spell(segment))).join('');
}

/**
 * Expands once: the content of a cell is never expanded again (rule V1). Secrets stay names. For paths, not for
 * prose.
 */
export function fillTemplate(template: Template, values: Values): Text {
  const filled = template.segments.map((segment) =>
    typeof segment === 'string' ? segment : valueFor(segment, values),
  );
  return mergeText(filled);
}

/** The same for prose, in which a value that would change the structure becomes a reference (rules V1, S3). */
export function fillProse({ segments }: Template, values: Values): Text {
  const parts = segments.map((segment): string | Insertion => {
    if (typeof segment === 'string') return segment;
    const value = valueFor(segment, values);
    const reference = referenceTo(segment, value);
    return { value: typeof value === 'string' ? value : reference, reference };
  });
  const fitted = fitValues(parts);
  return mergeText(
    segments.map((segment, index) =>
      typeof segment !== 'string' && segment.kind === 'env' ? { env: segment.name } : fitted[index]!,
    ),
  );
}

/** Prose with the values of its secrets, for an agent that may have them. */
export function resolveProse(text: Text, secrets: Readonly<Record<string, string>>): string {
  const parts = text.map((part) =>
    typeof part === 'string' ? part : { value: secretOf(part, secrets), reference: environmentReference(part.env) },
  );
  return fitValues(parts).join('');
}

export function resolveText(text: Text, secrets: Readonly<Record<string, string>>): string {
  return text.map((part) => (typeof part === 'string' ? part : secretOf(part, secrets))).join('');
}

/** The distinct placeholders of a text as written, in order of first occurrence (rule L3). */
export function placeholdersIn(text: string, columns: ReadonlySet<string>): string[] {
  const spellings = tokenize(text, columns).flatMap((token) => (token.name === undefined ? [] : [token.source]));
  return [...new Set(spellings)];
}

/** The text as literals (with `{{x}}` turned into `{x}`) and resolved placeholders. */
export function scanText(text: string, scope: Scope, firstLine: number): (string | Occurrence)[] {
  const segments: (string | Occurrence)[] = [];
  let literal = '';
  let line = firstLine;
  for (const token of tokenize(text, scope.columns)) {
    if (token.name === undefined) {
      literal += token.literal;
    } else {
      if (literal !== '') segments.push(literal);
      literal = '';
      segments.push({ placeholder: resolveName(token.name, scope, line), spelling: token.source, line });
    }
    line += token.source.split('\n').length - 1;
  }
  if (literal !== '') segments.push(literal);
  return segments;
}

/** A declared output that no task has written yet is an empty string, like an empty cell. */
export function valueFor(placeholder: Placeholder, values: Values): string | SecretName {
  switch (placeholder.kind) {
    case 'env':
      return { env: placeholder.name };
    case 'shift':
      return values.shift[placeholder.name];
    case 'column':
      return Object.hasOwn(values.columns, placeholder.name) ? values.columns[placeholder.name]! : '';
  }
}

/**
 * Tells an agent where to find the value. A path of the shift is written with escapes, because not every prompt has
 * it.
 */
function referenceTo(placeholder: Placeholder, value: string | SecretName): string {
  if (typeof value !== 'string') return environmentReference(placeholder.name);
  return placeholder.kind === 'column'
    ? `(the value of "${placeholder.name}" in <item>)`
    : `(${dataJson(value)} as JSON)`;
}

function environmentReference(name: string): string {
  return `(the environment variable ${name})`;
}

function mergeText(parts: Text): Text {
  const merged: (string | SecretName)[] = [];
  for (const part of parts) {
    const last = merged.at(-1);
    if (typeof part === 'string' && typeof last === 'string') merged[merged.length - 1] = last + part;
    else if (part !== '') merged.push(part);
  }
  return merged;
}

function secretOf(secret: SecretName, secrets: Readonly<Record<string, string>>): string {
  if (Object.hasOwn(secrets, secret.env)) return secrets[secret.env]!;
  throw new NightshiftError('bad-env', `.env has no ${secret.env} any more`, `put ${secret.env}= back into .env`);
}

type Token =
  | { readonly source: string; readonly literal: string; readonly name?: undefined }
  | { readonly source: string; readonly name: string };

/** `${` comes first and consumes all its braces, so that nothing after a dollar sign can start a placeholder. */
const BRACES = /\$\{+|\{\{(?<escaped>[^{}\r\n]+)\}\}|\{(?<plain>[^{}\r\n]+)\}/g;
const IDENTIFIER = /^[A-Za-z_][A-Za-z0-9_]*$/;
const PREFIXED = /^(ENV|SHIFT):(.*)$/s;

function tokenize(text: string, columns: ReadonlySet<string>): Token[] {
  const isName = (name: string) => IDENTIFIER.test(name) || PREFIXED.test(name) || columns.has(name);
  const tokens: Token[] = [];
  let end = 0;
  for (const match of text.matchAll(BRACES)) {
    const { escaped, plain } = match.groups!;
    const source = match[0];
    const before = text.slice(end, match.index);
    if (before !== '') tokens.push({ source: before, literal: before });
    if (plain !== undefined && isName(plain)) tokens.push({ source, name: plain });
    else if (escaped !== undefined && isName(escaped)) tokens.push({ source, literal: `{${escaped}}` });
    else tokens.push({ source, literal: source });
    end = match.index + source.length;
  }
  if (end < text.length) tokens.push({ source: text.slice(end), literal: text.slice(end) });
  return tokens;
}

function resolveName(name: string, scope: Scope, line: number): Placeholder {
  const fail = (message: string, hint: string): never => {
    throw new NightshiftError('bad-placeholder', `{${name}}: ${message}`, hint, {
      file: scope.file,
      line,
      placeholder: name,
    });
  };
  const [, prefix, rest = ''] = PREFIXED.exec(name) ?? [];
  if (prefix === 'ENV') {
    if (scope.env.has(rest)) return { kind: 'env', name: rest };
    const near = nearest(rest, scope.env);
    return fail(
      '.env has no such variable',
      near === undefined ? `add ${rest}= to the shift's .env` : `did you mean {ENV:${near}}?`,
    );
  }
  if (prefix === 'SHIFT') {
    const key = SHIFT_KEYS.find((known) => known === rest);
    if (key !== undefined) return { kind: 'shift', name: key };
    const near = nearest(rest, SHIFT_KEYS);
    const all = `there are ${SHIFT_KEYS.map((known) => `{SHIFT:${known}}`).join(', ')}`;
    return fail('SHIFT has no such key', near === undefined ? all : `did you mean {SHIFT:${near}}?`);
  }
  if (scope.columns.has(name)) return { kind: 'column', name };
  if (scope.delivered?.has(name)) {
    return fail('the delivery fills this column, after the last task has passed', `leave {${name}} out here`);
  }
  const filledBy = scope.later?.get(name);
  if (filledBy !== undefined && filledBy === scope.task) {
    return fail(`${filledBy} itself fills this column`, `only Validation can use it; leave {${name}} out here`);
  }
  if (filledBy !== undefined) {
    const hint = `move ${filledBy} before this task in the Task Order, or leave {${name}} out`;
    return fail(`this column is filled by ${filledBy}, which comes later`, hint);
  }
  const near = scope.env.has(name) ? `ENV:${name}` : nearest(name, scope.columns);
  const literal = `for the text itself write {{${name}}}`;
  return fail('the table has no such column', near === undefined ? literal : `did you mean {${near}}? ${literal}`);
}
