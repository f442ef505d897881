import { NightshiftError } from '../core/model/errors.ts';
import type { Setting } from '../core/model/model.ts';
import { nearest } from '../core/model/names.ts';
import { CHANGE_KEYS } from './change-settings.ts';
import { headOf, type Item, listItems } from './list.ts';
import type { Section } from './markdown.ts';

/** Keys of the workspace of a row. All tasks that work in it must agree on them. */
export const WORKSPACE_KEYS = [
  'workspace',
  'repo',
  'base',
  'branch',
  'include',
  'setup',
  'deliver',
  'into',
  'deliver-when',
  'author',
  'message',
  'pr-title',
  'pr-body',
  'pr-command',
] as const;

/** The same, for the whole shift only. */
export const WORKSPACE_SHIFT_KEYS = ['workspaces-dir', 'max-deliveries'] as const;

/** Keys whose value may be a fenced block below them. */
const BLOCK_KEYS: readonly string[] = ['setup', 'pr-command', 'message', 'pr-body'];

/** Keys that a task's Configuration may have; in Shift Configuration they are the default for all tasks (rule X1). */
export const TASK_KEYS = [
  'tools',
  'agent',
  'model',
  'command',
  'acp-command',
  'qa',
  'qa-agent',
  'qa-model',
  'qa-retries',
  'attempts',
  'retry-delay',
  'timeout',
  'check-timeout',
  'working-dir',
  'worktree',
  'outputs',
  'pass-env',
  'worker-labels',
  'protect',
  ...CHANGE_KEYS,
  'sandbox',
  ...WORKSPACE_KEYS,
] as const;

/** Keys as older programs write them. */
const OLDER_KEYS: ReadonlyMap<string, string> = new Map([['working_dir', 'working-dir']]);

/** A setting, and the position of its value in the source, without quotes. */
interface PlacedSetting extends Setting {
  readonly item: Item;
  readonly start: number;
  readonly end: number;
}

export interface SettingList {
  readonly settings: readonly PlacedSetting[];
  /** Lines of list items that are not `key: value`. */
  readonly strays: readonly number[];
}

export function readSettings(section: Section): SettingList {
  const settings: PlacedSetting[] = [];
  const strays: number[] = [];
  for (const item of listItems(section.lines, 'bullets')) {
    const head = headOf(item);
    if (head === '' || head.startsWith('#')) continue;
    const setting = readSetting(item);
    if (setting === undefined) strays.push(item.lines[0]!.number);
    else settings.push(setting);
  }
  return { settings, strays };
}

function readSetting(item: Item): PlacedSetting | undefined {
  const line = item.lines[0]!;
  const colon = line.active.indexOf(':', item.content);
  const written = unquote(line.active.slice(item.content, Math.max(colon, item.content)).trim());
  if (written === '') return undefined;
  const key = OLDER_KEYS.get(written) ?? written;
  const raw = line.active.slice(colon + 1);
  const trimmed = raw.trim();
  const value = unquote(trimmed);
  // A missing value goes after the one space that follows the colon.
  const gap = trimmed === '' ? Math.min(raw.length, 1) : raw.indexOf(trimmed) + (trimmed.length - value.length) / 2;
  const start = line.start + colon + 1 + gap;
  return { key, value, line: line.number, ...blocksBelow(key, item), item, start, end: start + value.length };
}

function blocksBelow(key: string, item: Item): Pick<Setting, 'blocks'> {
  const found = new Set(BLOCK_KEYS.includes(key) ? item.lines.flatMap(({ block }) => block ?? []) : []);
  return found.size === 0 ? {} : { blocks: [...found].map(({ info, code, line }) => ({ info, code, line })) };
}

/** Without the positions in the source. */
export function plainSettings(settings: readonly Setting[]): Setting[] {
  return settings.map(({ key, value, line, blocks }) => ({ key, value, line, ...(blocks && { blocks }) }));
}

/** Removes one pair of backticks or quotes around the text. */
export function unquote(text: string): string {
  const quote = text[0];
  if (text.length < 2 || quote === undefined || !'`"\''.includes(quote) || !text.endsWith(quote)) return text;
  const inner = text.slice(1, -1);
  return inner.includes(quote) || inner !== inner.trim() ? text : inner;
}

/** A duplicate key has no correct value. */
export function refuseDuplicates(settings: readonly Setting[], code: 'bad-manager' | 'bad-task', file: string): void {
  const first = new Map<string, number>();
  for (const { key, line } of settings) {
    const earlier = first.get(key);
    if (earlier !== undefined) {
      const hint = `keep one of line ${earlier} and line ${line}`;
      throw new NightshiftError(code, `\`${key}\` is set twice`, hint, { file, line });
    }
    first.set(key, line);
  }
}

/** `false`, or nothing. */
export function isOff(value: string): boolean {
  return /^(false)?$/i.test(value);
}

/** One warning for each unknown key and each list item that is not a setting. */
export function settingWarnings(
  { settings, strays }: { readonly settings: readonly Setting[]; readonly strays: readonly number[] },
  known: readonly string[],
  file: string,
): string[] {
  const unknown = settings.filter(({ key }) => !known.includes(key));
  const older = settings.filter(({ key, value }) => key === 'worktree' && isOff(value));
  return [
    ...older.map(({ line }) => `\`worktree\` has no effect; \`workspace\` replaces it (${file} line ${line})`),
    ...unknown.map(({ key, line }) => {
      const meant = nearest(key, known);
      const question = meant === undefined ? '' : `; did you mean \`${meant}\`?`;
      return `unknown key \`${key}\` (${file} line ${line})${question}`;
    }),
    ...strays.map((line) => `ignored a list item that is not \`- key: value\` (${file} line ${line})`),
  ];
}
