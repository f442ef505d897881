import { type ErrorCode, NightshiftError } from '../core/model/errors.ts';
import type { Setting } from '../core/model/model.ts';
import { nearest } from '../core/model/names.ts';
import { isLimitValue, LIMIT_KEYS, type LimitKey } from '../core/schedule/budget.ts';
import { CHANGE_KEYS } from './change-settings.ts';
import { indentOf, type Line, type Markdown, type Section } from './markdown.ts';

/** A document that may contain settings, and the settings found in it. */
export interface Configured {
  readonly document: Markdown;
  readonly configuration: Section;
  readonly settings: readonly Setting[];
  /** Sections of prose, in which a line that only resembles a limit is not one. */
  readonly prose: readonly Section[];
  readonly keys: readonly string[];
  /** Whether its Configuration may have limits: they belong to the shift, never to a task. */
  readonly ofShift: boolean;
  readonly file: string;
}

/**
 * A key and its value: `- max-cost: 5`, and also what only looks like it: without a marker or with another one, in
 * quotes, in a table, with `=` or only white space before the value.
 */
const HEAD =
  /^(?:[^\p{L}\p{N}#]|\d{1,9}[.)]\s)*(\p{L}+(?:[^\p{L}\p{N}:=|：]{1,3}\p{L}+)*)[^\p{L}\p{N}:=|：$-]*(?:([:=|：])\s*(.*)|\s([-$\d].*))?$/u;
/** An entry of the list without a colon: `- max-cost five`. */
const BARE_ENTRY = /^\s*[-*+]\s+(max[-_ ]?\p{L}+(?:[-_]\p{L}+)*|until)\s+([^\s:=|：].*)$/iu;
/** Longer lines set nothing. */
const LONGEST = 300;

/** Words in keys that are meant to limit something. */
const BOUNDS = /^max[-_ ]?|limit|budget|cost|spend/i;

const UNTIL = /^(until+|unitl|util|unti)s?$/i;

interface Head {
  readonly key: string;
  readonly value: string;
  readonly hasSeparator: boolean;
}

/**
 * Rule X6: a mistyped limit would silently cost money. So one that is misspelt, is not an entry of the list, or is
 * where nothing reads it, is an error. Comments stay inactive.
 */
export function refuseLostLimits(configured: Configured): void {
  const { document, configuration, prose } = configured;
  const inside = new Set(configuration.lines);
  const inProse = new Set(prose.flatMap(({ lines }) => lines));
  for (const line of document.lines) {
    if (inside.has(line)) refuseInConfiguration(configured, line);
    // Anywhere else, a code block is an example.
    else if (line.block === undefined) refuseOutside(configured, line, inProse.has(line));
  }
}

function refuseInConfiguration(configured: Configured, line: Line): void {
  const { settings, keys, ofShift } = configured;
  const setting = settings.find((each) => each.line === line.number);
  if (setting !== undefined && keys.includes(setting.key)) return;
  // A script of a setting is no configuration.
  if (settings.some(({ blocks }) => blocks?.some((block) => block.line === line.block?.line))) return;
  const text = line.block === undefined ? line.active : line.text;
  const head = (setting === undefined ? readBareEntry(text) : undefined) ?? readHead(text);
  const key = setting?.key ?? head?.key;
  if (key === undefined) return;
  const meant = limitMeant(key, keys);
  if (meant === undefined) {
    const guard = setting && guardMeant(setting.key, keys);
    if (guard !== undefined) throw misspelt(configured, setting!, guard);
    if (setting !== undefined && BOUNDS.test(key) && nearest(key, keys) === undefined)
      throw unknownLimit(configured, setting);
    return;
  }
  if (!ofShift) throw ofTask(configured, meant, line);
  const value = setting?.value ?? head?.value ?? '';
  if (setting !== undefined) throw misspelt(configured, setting, meant);
  throw lost(configured, line, meant, value);
}

/** Outside of the Configuration, the more a line could be a sentence, the more it has to look like a limit. */
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

/** Removes quotes and table bars. */
function trimmed(value = ''): string {
  return value.replace(/^[`"'*_|\s]+|[`"'*_|\s]+$/g, '');
}

function limitMeant(key: string, keys: readonly string[]): LimitKey | undefined {
  const found = sameLetters(key) ?? nearest(key.replace(/[^\p{L}]+/gu, '-'), [...keys, ...LIMIT_KEYS]);
  // `until` is so short that other words are similar, such as `unit`.
  if (found === 'until' && !UNTIL.test(key)) return undefined;
  return LIMIT_KEYS.find((each) => each === found);
}

/** Without it, agents could do what they must not. */
function guardMeant(key: string, keys: readonly string[]): string | undefined {
  const near = nearest(key.replace(/[^\p{L}]+/gu, '-'), keys);
  return near === 'sandbox' || CHANGE_KEYS.some((each) => each === near) ? near : undefined;
}

/** `max_cost`, `Max Cost`, `maxcost`, `max-costs`. */
function sameLetters(key: string): LimitKey | undefined {
  const bare = (text: string) => text.toLowerCase().replace(/[^\p{L}]/gu, '');
  return LIMIT_KEYS.find((each) => [bare(each), `${bare(each)}s`].includes(bare(key)));
}

function misspelt(configured: Configured, { key, value, line }: Setting, meant: string): NightshiftError {
  return refuse(configured, `\`${key}\` is not a key, so nothing is limited`, `write \`- ${meant}: ${value}\``, line);
}

function unknownLimit(configured: Configured, { key, line }: Setting): NightshiftError {
  const hint = `the limits are ${LIMIT_KEYS.join(', ')}; remove the line, or put \`#\` before its key`;
  return refuse(configured, `\`${key}\` is not a key, so nothing is limited`, hint, line);
}

function ofTask(configured: Configured, meant: LimitKey, line: Line): NightshiftError {
  const hint = `put it in the Shift Configuration of manager.md`;
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
  if (!isInside) return 'is in another section';
  if (line.block !== undefined) return 'is in a code block';
  return indentOf(line.active) > 1 ? 'belongs to the line above it' : 'is not an entry of the list';
}

function refuse({ ofShift, file }: Configured, message: string, hint: string, line: number): NightshiftError {
  const code: ErrorCode = ofShift ? 'bad-manager' : 'bad-task';
  return new NightshiftError(code, message, hint, { file, line });
}
