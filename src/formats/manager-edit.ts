import { NightshiftError } from '../core/model/errors.ts';
import type { Counts } from '../core/model/events.ts';
import { checkTaskName } from '../core/model/names.ts';
import type { Item } from './list.ts';
import { headOf, listItems } from './list.ts';
import { progressLines } from './manager-progress.ts';
import type { Line, Markdown, Section } from './markdown.ts';
import { findSections, insertBelow, scan, splice } from './markdown.ts';
import { noTasksYet } from './older-documents.ts';
import { requireClosed, requireSection } from './required.ts';
import { readSettings, unquote } from './settings.ts';

/**
 * Edits of `manager.md`: text in, text out. Each changes only its own bytes (rule F5), returns the same text if there
 * is nothing to change, and throws `bad-manager` if the section to change is missing.
 */
function open(text: string): Markdown {
  const document = scan(text);
  requireClosed(document, 'bad-manager');
  return document;
}

/** Replaces the value, or adds the key below the last active setting. */
export function setSetting(text: string, key: string, value: string): string {
  const changed = writeSetting(text, key, value);
  const now = readSettings(requireSection(open(changed), 'Shift Configuration', 'bad-manager')).settings;
  if (now.find((setting) => setting.key === key)?.value === value) return changed;
  throw new NightshiftError('usage', `\`${key}\` cannot have this value: it would not be read back as written`);
}

function writeSetting(text: string, key: string, value: string): string {
  const document = open(text);
  const section = requireSection(document, 'Shift Configuration', 'bad-manager');
  const { settings } = readSettings(section);
  const setting = settings.find((candidate) => candidate.key === key);
  if (setting === undefined) {
    const last = settings.at(-1);
    if (last === undefined) return insertAtEnd(document, section, [`- ${key}: ${value}`]);
    const { item, blocks } = last;
    const lead = item.lines[0]!.text.slice(0, item.content);
    // A script below its key stays there.
    const end = blocks && item.lines.findLast(({ block }) => block !== undefined);
    return insertBelow(document, lastLineOf(section, item, end), [`${lead}${key}: ${value}`]);
  }
  const space = setting.value === '' && text[setting.start - 1] === ':' ? ' ' : '';
  return setting.value === value ? text : splice(text, setting.start, setting.end, space + value);
}

const PROGRESS_NAMES: readonly (readonly [keyof Counts, string])[] = [
  ['total', 'Total items'],
  ['completed', 'Completed'],
  ['failed', 'Failed'],
  ['remaining', 'Remaining'],
];

/** Updates the four numbers of Progress. Adds missing lines to the section, and a missing section to the file. */
export function setProgress(text: string, counts: Counts): string {
  const document = open(text);
  const section = findSections(document, 'Progress')[0];
  if (section === undefined) {
    const lines = PROGRESS_NAMES.map(([key, name]) => `- ${name}: ${counts[key]}`);
    return appendSection(document, ['## Progress', '', ...lines]);
  }
  const present = progressLines(section);
  const lead = present.at(-1)?.lead ?? '- ';
  const missing = PROGRESS_NAMES.filter(([key]) => !present.some((line) => line.key === key));
  const added = missing.map(([key, name]) => `${lead}${name}: ${counts[key]}`);
  // Backwards, so that earlier offsets stay valid.
  let changed = added.length === 0 ? text : insertAtEnd(document, section, added);
  for (const line of present.toReversed()) {
    const space = line.value === '' && text[line.start - 1] === ':' ? ' ' : '';
    changed = splice(changed, line.start, line.end, `${space}${counts[line.key]}`);
  }
  return changed;
}

/** `edited` with the Shift Configuration and the Task Order of `inForce`; everything else is free text and stays. */
export function restoreTerms(edited: string, inForce: string): string {
  let restored = edited;
  for (const name of ['Shift Configuration', 'Task Order']) {
    const { start, end } = requireSection(open(restored), name, 'bad-manager');
    const right = requireSection(open(inForce), name, 'bad-manager');
    const body = inForce.slice(right.start, right.end);
    if (restored.slice(start, end).trimEnd() !== body.trimEnd()) restored = splice(restored, start, end, body);
  }
  return restored;
}

/** Adds a task at the end of the Task Order, in the style of the last entry. Does not move an existing one. */
export function addTask(text: string, task: string): string {
  checkTaskName(task);
  const document = open(text);
  const section = requireSection(document, 'Task Order', 'bad-manager');
  const items = listItems(section.lines, 'numbered');
  if (items.some((item) => unquote(headOf(item)) === task)) return text;
  const last = items.at(-1);
  if (last === undefined) {
    const line = noTasksYet(text);
    return line ? splice(text, line.start, line.end, `1. ${task}`) : insertAtEnd(document, section, [`1. ${task}`]);
  }
  const numbers = items.map((item) => Number.parseInt(item.marker, 10));
  // `1. 1. 1.` is a style too.
  const step = numbers.length > 1 && numbers.at(-1) === numbers.at(-2) ? 0 : 1;
  const first = last.lines[0]!;
  const lead = first.text.slice(0, last.content).replace(/\d+/, String(numbers.at(-1)! + step));
  const name = unquote(headOf(last)) === headOf(last) ? task : headOf(last)[0] + task + headOf(last)[0];
  return insertBelow(document, lastLineOf(section, last), [lead + name]);
}

/** The line below which the next item goes: after nested lines, and after a comment that starts here. */
function lastLineOf(section: Section, item: Item, from = item.lines[0]!): Line {
  const lines = section.lines.slice(section.lines.indexOf(from));
  return lines.find((line, i) => !line.open && !/^[ \t]+\S/.test(lines[i + 1]?.text ?? '')) ?? lines.at(-1)!;
}

/** After the last non-blank line of a section; an empty line separates it from a heading or a comment. */
function insertAtEnd(document: Markdown, section: Section, added: readonly string[]): string {
  const last = section.lines.findLast((line) => line.text.trim() !== '') ?? section.heading;
  const apart = last === section.heading || (last.active.trim() === '' && last.block === undefined);
  return insertBelow(document, last, apart ? ['', ...added] : added);
}

function appendSection(document: Markdown, lines: readonly string[]): string {
  const last = document.lines.at(-1);
  if (last === undefined) return document.text + lines.map((line) => line + document.eol).join('');
  return insertBelow(document, last, last.text.trim() === '' ? lines : ['', ...lines]);
}

interface NewManager {
  readonly name: string;
  /** ISO date. */
  readonly created: string;
  readonly parallel: boolean;
  /** With `parallel`: how many run at once; otherwise it starts with 2. */
  readonly batchSize?: number | undefined;
  /** More lines for Shift Configuration, such as `agent`. */
  readonly settings?: Readonly<Record<string, string>>;
  readonly items?: number;
}

/** A dev can usually fix what a qa finds. */
const FIRST_QA_RETRIES = 1;

/** Doubling without a bound overloads a machine: each agent takes some hundred MB. */
const FIRST_MAX_BATCH_SIZE = 8;

/** The `manager.md` of a new shift. */
export function createManager({ name, created, parallel, batchSize, settings = {}, items = 0 }: NewManager): string {
  const sizes =
    batchSize === undefined
      ? [`- max-batch-size: ${FIRST_MAX_BATCH_SIZE}`]
      : [`- current-batch-size: ${batchSize}`, `- max-batch-size: ${batchSize}`];
  const configuration = [
    `- name: ${name}`,
    `- created: ${created}`,
    `- parallel: ${parallel}`,
    ...(parallel ? ['- dispatch: stream', ...sizes] : []),
    `- qa-retries: ${FIRST_QA_RETRIES}`,
    '- lessons: careful',
    ...Object.entries(settings).map(([key, value]) => `- ${key}: ${value}`),
  ];
  return `# ${name}

## Shift Configuration

${configuration.join('\n')}

## Task Order

<!-- One task per line, in the order in which each item goes through them: \`1. task_name\`.
     Each has a file \`task_name.md\` here and a column of that name in table.csv.
     \`nightshift add-task\` writes all three. -->

## Progress

- Total items: ${items}
- Completed: 0
- Failed: 0
- Remaining: ${items}
`;
}
