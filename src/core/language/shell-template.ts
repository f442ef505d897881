import { NightshiftError } from '../model/errors.ts';
import type { Script, SecretName, Text } from '../model/model.ts';
import { fitValues } from './prose.ts';
import { type Refusal, writesAndRuns } from './shell-refusals.ts';
import { type BlockFiles, findFiles, findStandings } from './shell-standings.ts';
import { type Accepted, HOLE } from './shell-word.ts';
import { type Occurrence, type Placeholder, type Scope, scanText, type Values, valueFor } from './template.ts';

/** A fenced `sh` or `bash` block, parsed once. In it, a value is a variable and never shell text (rule V4). */
export interface ScriptTemplate {
  readonly parts: readonly (string | Slot)[];
  readonly line: number;
  readonly files: BlockFiles;
  /** Absent: `sh`. */
  readonly shell?: 'bash';
}

interface Slot {
  readonly placeholder: Placeholder;
  readonly spelling: string;
  readonly variable: string;
  readonly standing: Accepted;
  /** A `$name` ends directly before it, and would continue into an unquoted value. */
  readonly followsName: boolean;
}

/**
 * Throws `bad-placeholder` if a placeholder names nothing (rule V2), or if no reference can be correct where it is.
 */
export function parseScript(code: string, scope: Scope, firstLine: number): ScriptTemplate {
  const segments = scanText(code, scope, firstLine);
  const occurrences = new Map<number, Occurrence>();
  let source = '';
  for (const segment of segments) {
    if (typeof segment !== 'string') occurrences.set(source.length, segment);
    source += typeof segment === 'string' ? segment : HOLE;
  }
  const files = findFiles(source, [...occurrences.keys()], firstLine);
  if (occurrences.size === 0) return { parts: [source], line: firstLine, files };

  const standings = findStandings(source, [...occurrences.keys()], firstLine);
  const variables = nameVariables([...occurrences.values()]);
  const parts: (string | Slot)[] = [];
  let end = 0;
  for (const [offset, { placeholder, spelling, line }] of occurrences) {
    const standing = standings.get(offset)!;
    if (standing.quoting === 'refused') {
      throw refused(spelling, standing.why, { file: scope.file, line });
    }
    const before = source.slice(end, offset);
    const followsName = /\$[A-Za-z_][A-Za-z0-9_]*$/.test(before);
    parts.push(before, { placeholder, spelling, variable: variables.get(spelling)!, standing, followsName });
    end = offset + HOLE.length;
  }
  parts.push(source.slice(end));
  return { parts, line: firstLine, files };
}

/** Throws `bad-placeholder` if one block of a task writes a file with a value in it and another one runs it. */
export function refuseRunOfWritten(scripts: readonly ScriptTemplate[], file: string): void {
  for (const { parts, line, files } of scripts) {
    const slot = parts.find((part) => typeof part !== 'string');
    const runs = scripts.flatMap((other) => (other.line === line ? [] : other.files.run));
    const run = runs.find(({ name }) => files.written.includes(name));
    if (slot && run) throw refused(slot.spelling, writesAndRuns(run.name, run.line), { file, line });
  }
}

function refused(spelling: string, { cause, instead }: Refusal, place: { file: string; line: number }): Error {
  return new NightshiftError('bad-placeholder', `${spelling} can't stand here: ${cause}`, instead(spelling), place);
}

/**
 * The block with a reference for each placeholder, and the values of the references. If a value would be an option,
 * the block only says so.
 */
export function fillScript(template: ScriptTemplate, values: Values): Script {
  const { line } = template;
  const shell = template.shell === undefined ? {} : { shell: template.shell };
  const byName: Record<string, string | SecretName> = {};
  for (const part of template.parts) {
    const value = typeof part === 'string' || !part.standing.optionOf ? '' : valueFor(part.placeholder, values);
    if (typeof part === 'string' || typeof value !== 'string' || !value.startsWith('-')) continue;
    const source = `printf '%s\\n' ${singleQuoted(beginsLikeOption(part))} >&2; exit 1`;
    return { source, values: {}, line, ...shell };
  }
  const source = template.parts.map((part) => {
    if (typeof part === 'string') return part;
    if (part.standing.quoting === 'comment') return part.spelling;
    byName[part.variable] = valueFor(part.placeholder, values);
    return quoteReference(`\${${part.variable}}`, part.standing);
  });
  return { source: source.join(''), values: byName, line, ...shell };
}

/**
 * The block for a reader who may type it into a shell: values as literals, secrets as references to their variables.
 * A value that would change the text around the block becomes a reference, too. `indent`: the indentation of its
 * fence.
 */
export function renderForReader({ parts }: ScriptTemplate, values: Values, indent = ''): Text {
  const pieces = parts.map((part) => {
    if (typeof part === 'string') return part.replace(/\n(?!\n)/g, `\n${indent}`);
    if (part.standing.quoting === 'comment') return part.spelling;
    const value = valueFor(part.placeholder, values);
    const isSecret = typeof value !== 'string';
    const reference = quoteReference(isSecret ? secretReference(value) : `\${${part.variable}}`, part.standing);
    return { value: isSecret ? reference : quoteLiteral(value, part), reference };
  });
  const text = fitValues(pieces).join('');
  const end = text.endsWith(`\n${indent}`) ? text.length - indent.length : text.length;
  return [indent + text.slice(0, end)];
}

function beginsLikeOption({ spelling, standing }: Slot): string {
  return `${spelling} begins with -, and ${standing.optionOf} would read it as an option: write -- before it, or ./${spelling}`;
}

/** Readable in the block and in `env`; the same for every item. */
function nameVariables(occurrences: readonly Occurrence[]): Map<string, string> {
  const names = new Map<string, string>();
  const taken = new Set<string>();
  for (const { spelling } of occurrences) {
    if (names.has(spelling)) continue;
    const words = spelling.replace(/[^A-Za-z0-9_]+/g, ' ').trim();
    const readable = `NIGHTSHIFT_V_${words.replaceAll(' ', '_').slice(0, 40)}`;
    let name = readable;
    for (let count = 2; taken.has(name); count++) name = `${readable}_${count}`;
    taken.add(name);
    names.set(spelling, name);
  }
  return names;
}

function quoteReference(reference: string, { quoting }: Accepted): string {
  if (quoting === 'single') return `'"${reference}"'`;
  return quoting === 'bare' ? `"${reference}"` : reference;
}

function secretReference({ env }: SecretName): string {
  // A name such as `api.key` is valid in .env, but not as a shell variable.
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(env) ? `\${${env}}` : `$(printenv ${singleQuoted(env)})`;
}

function singleQuoted(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** Characters without a special meaning in double quotes, even in an interactive shell. */
const HARMLESS = /^[\p{L}\p{N} ./:,;@%+=_()?&#<>|*~^-]*$/u;

function quoteLiteral(value: string, { standing: { quoting, delimiters }, followsName }: Slot): string {
  const isInHereDocument = delimiters !== '';
  if (quoting === 'here-document') {
    const text = value.replace(/[\\$`]/g, '\\$&');
    // A line that equals the delimiter ends the document. In bash, one that only begins with it may, too, and dash
    // 0.5.12 loses non-ASCII bytes after a part of it. None of this happens if the first character is not one of the
    // delimiter.
    return followsName || !/^[ -~]/.test(text) || delimiters.includes(text.charAt(0)) ? NOTHING + text : text;
  }
  if (quoting === 'double' && HARMLESS.test(value) && !followsName && !isInHereDocument) return value;
  const quoted = singleQuoted(value);
  if (quoting === 'double') return `"${quoted}"`;
  if (quoting === 'bare') return quoted;
  // In a `$( )` of a here-document, a line of the value could be the delimiter; between quotes it is not.
  return isInHereDocument ? `'${quoted}'` : quoted.slice(1, -1);
}

/**
 * Expands to nothing, whether set or not. Its line is not the delimiter, and tabs after it are not at its beginning.
 */
const NOTHING = `\${HOME+}`;
