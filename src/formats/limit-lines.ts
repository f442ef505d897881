import { type ErrorCode, NightshiftError } from '../core/model/errors.ts';
import type { Setting } from '../core/model/model.ts';
import { nearest } from '../core/model/names.ts';
import { isLimitValue, LIMIT_KEYS, type LimitKey } from '../core/schedule/limits.ts';
import { indentOf, type Line, type Markdown, type Section } from './markdown.ts';

/** A document that may hold settings, and what was read in it. */
export interface Configured {
  readonly document: Markdown;
  readonly configuration: Section;
  readonly settings: readonly Setting[];
  /** Sections of plain text, in which a line that only resembles a limit is none. */
  readonly prose: readonly Section[];
  readonly keys: readonly string[];
  /** Whether limits belong into its Configuration: they are the shift's, never a task's. */
  readonly ofShift: boolean;
  readonly file: string;
}

/**
 * A key, and what is set by it: `- max-cost: 5`, but also what only looks so: without a marker or with another one, in
 * quotes, in a table, with `=` or nothing but white space before the value.
 */
const HEAD =
  /^(?:[^\p{L}\p{N}#]|\d{1,9}[.)]\s)*(\p{L}+(?:[^\p{L}\p{N}:=|：]{1,3}\p{L}+)*)[^\p{L}\p{N}:=|：$-]*(?:([:=|：])\s*(.*)|\s([-$\d].*))?$/u;
/** An entry of the list without a colon: `- max-cost five`. */
const BARE_ENTRY = /^\s*[-*+]\s+(max[-_ ]?\p{L}+(?:[-_]\p{L}+)*|until)\s+([^\s:=|：].*)$/iu;
/** No line that sets something is longer. */
const LONGEST = 300;

/** Whoever sets these means to bound something, whatever it is called here. */
const BOUNDS = /^max[-_ ]?|limit|budget|cost|spend/i;

const UNTIL = /^(until+|unitl|util|unti)s?$/i;

interface Head {
  readonly key: string;
  readonly value: string;
  readonly hasSeparator: boolean;
}

/**
 * Rule X6: a limit that was meant is a limit. One that is misspelt, is no entry of the list, or stands where nothing reads
 * it would cost money without a word, so it is an error. What is commented out stays inactive.
 */
export function refuseLostLimits(configured: Configured): void {
  const { document, configuration, prose } = configured;
  const inside = new Set(configuration.lines);
  const inProse = new Set(prose.flatMap(({ lines }) => lines));
  for (const line of document.lines) {
    if (inside.has(line)) refuseInConfiguration(configured, line);
    // Elsewhere a code block is an example.
    else if (line.block === undefined) refuseOutside(configured, line, inProse.has(line));
  }
}

function refuseInConfiguration(configured: Configured, line: Line): void {
  const { settings, keys, ofShift } = configured;
  const setting = settings.find((each) => each.line === line.number);
  if (setting !== undefined && keys.includes(setting.key)) return;
  const text = line.block === undefined ? line.active : line.text;
  const head = (setting === undefined ? readBareEntry(text) : undefined) ?? readHead(text);
  const key = setting?.key ?? head?.key;
  if (key === undefined) return;
  const meant = limitMeant(key, keys);
  if (meant === undefined) {
    if (setting !== undefined && BOUNDS.test(key) && nearest(key, keys) === undefined)
      throw unknownLimit(configured, setting);
    return;
  }
  if (!ofShift) throw ofTask(configured, meant, line);
  const value = setting?.value ?? head?.value ?? '';
  if (setting !== undefined) throw misspelt(configured, setting, meant);
  throw lost(configured, line, meant, value);
}

/** Where no key is read, a line has to look like one of a limit, and more so the more it could be a sentence. */
function refuseOutside(configured: Configured, line: Line, isProse: boolean): void {
  const head = readHead(line.active);
  if (head === undefined) return;
  const { key, value, hasSeparator } = head;
  const meant = isProse ? LIMIT_KEYS.find((each) => each === key && each !== 'until') : sameLetters(key);
  if (meant === undefined) return;
  const isPlain = isProse || !hasSeparator || meant === 'until' || /\s/.test(key);
  if (isPlain && !isLimitValue(meant, value)) return;
  throw configured.ofShift ? lost(configured, line, meant, value) : ofTask(configured, meant, line);
}

function readHead(line: string): Head | undefined {
  const text = line.trimEnd().slice(0, LONGEST);
  const [, key, separator, value, bare] = HEAD.exec(text) ?? [];
  return key === undefined ? undefined : { key, value: trimmed(value ?? bare), hasSeparator: separator !== undefined };
}

function readBareEntry(line: string): Head | undefined {
  const [, key = '', value = ''] = BARE_ENTRY.exec(line.trimEnd().slice(0, LONGEST)) ?? [];
  return sameLetters(key) === undefined ? undefined : { key, value: trimmed(value), hasSeparator: false };
}

/** Without the quotes or bars around it. */
function trimmed(value = ''): string {
  return value.replace(/^[`"'*_|\s]+|[`"'*_|\s]+$/g, '');
}

function limitMeant(key: string, keys: readonly string[]): LimitKey | undefined {
  const found = sameLetters(key) ?? nearest(key.replace(/[^\p{L}]+/gu, '-'), [...keys, ...LIMIT_KEYS]);
  // It is so short that other words are near to it, such as `unit`.
  if (found === 'until' && !UNTIL.test(key)) return undefined;
  return LIMIT_KEYS.find((each) => each === found);
}

/** `max_cost`, `Max Cost`, `maxcost`, `max-costs`. */
function sameLetters(key: string): LimitKey | undefined {
  const bare = (text: string) => text.toLowerCase().replace(/[^\p{L}]/gu, '');
  return LIMIT_KEYS.find((each) => [bare(each), `${bare(each)}s`].includes(bare(key)));
}

function misspelt(configured: Configured, { key, value, line }: Setting, meant: LimitKey): NightshiftError {
  return refuse(configured, `\`${key}\` is not a key, so nothing is limited`, `write \`- ${meant}: ${value}\``, line);
}

function unknownLimit(configured: Configured, { key, line }: Setting): NightshiftError {
  const hint = `the limits are ${LIMIT_KEYS.join(', ')}; remove the line, or put \`#\` before its key`;
  return refuse(configured, `\`${key}\` is not a key, so nothing is limited`, hint, line);
}

function ofTask(configured: Configured, meant: LimitKey, line: Line): NightshiftError {
  const hint = `write it into the Shift Configuration of manager.md`;
  return refuse(configured, `\`${meant}\` is a limit of the shift, not of a task`, hint, line.number);
}

function lost(configured: Configured, line: Line, meant: LimitKey, value: string): NightshiftError {
  const { configuration } = configured;
  const entry = value === '' ? meant : `${meant}: ${value}`;
  const isInside = configuration.lines.includes(line);
  const hint = isInside
    ? `write \`- ${entry}\` at the beginning of a line`
    : `write \`- ${entry}\` below \`## ${configuration.name}\`, and remove this line`;
  return refuse(configured, `\`${entry}\` ${whyLost(line, isInside)}, so nothing is limited`, hint, line.number);
}

function whyLost(line: Line, isInside: boolean): string {
  if (!isInside) return 'stands in another section';
  if (line.block !== undefined) return 'stands in a code block';
  return indentOf(line.active) > 1 ? 'belongs to the line above it' : 'is not an entry of the list';
}

function refuse({ ofShift, file }: Configured, message: string, hint: string, line: number): NightshiftError {
  const code: ErrorCode = ofShift ? 'bad-manager' : 'bad-task';
  return new NightshiftError(code, message, hint, { file, line });
}
