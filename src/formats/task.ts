import { type FindTraits, findTraits } from '../core/model/agent-traits.ts';
import { NightshiftError } from '../core/model/errors.ts';
import type { Setting } from '../core/model/model.ts';
import { nearest } from '../core/model/names.ts';
import type { Task } from '../core/model/shift.ts';
import { entryText, normalizeText, renderEntry, renumberEntry, styleOf } from './entry-text.ts';
import { refuseLostLimits } from './limit-lines.ts';
import { isEmpty, type ListKind, listItems } from './list.ts';
import type { Block, Markdown, Section } from './markdown.ts';
import { scan, splice } from './markdown.ts';
import { requireClosed, requireSection } from './required.ts';
import {
  plainSettings,
  readSettings,
  refuseDuplicates,
  settingWarnings,
  TASK_KEYS,
  WORKSPACE_SHIFT_KEYS,
} from './settings.ts';
import { UNWRITTEN } from './task-template.ts';

export { createTask } from './task-template.ts';

/** The content of a task file (rule F4). */
export interface TaskDocument {
  readonly text: string;
  readonly settings: readonly Setting[];
  /** Lines of Configuration that are list items but not settings. */
  readonly strays: readonly number[];
  readonly steps: readonly Entry[];
  readonly criteria: readonly Entry[];
  readonly sections: { readonly configuration: Span; readonly steps: Span; readonly validation: Span };
}

/** The body of a section: from the line after its heading to the next heading of the same or a higher level. */
interface Span {
  readonly start: number;
  readonly end: number;
}

/** A step or a criterion. `text.slice(start, end)` is its whole source: marker, text and fenced blocks. */
export interface Entry {
  /** Its position, from 1; the number in the file may differ. */
  readonly number: number;
  readonly start: number;
  readonly end: number;
  readonly line: number;
  readonly blocks: readonly Block[];
}

/** Info strings of blocks that look as if they ran. */
const OTHER_SHELLS = ['shell', 'zsh', 'console'];
const KNOWN_KEYS: readonly string[] = TASK_KEYS;
const MARKER = /^\s*(?:\d+[.)]|[-*+])\s+/;

type SectionName = keyof TaskDocument['sections'];

const SECTIONS = ['Configuration', 'Steps', 'Validation'] as const;

/** Throws `bad-task` with the line and a hint. */
export function parseTask(text: string, file: string): TaskDocument {
  const document = scan(text);
  requireClosed(document, 'bad-task', file);
  const given = hasConfiguration(document) ? SECTIONS : SECTIONS.slice(1);
  const sections = given.map((name) => requireSection(document, name, 'bad-task', file));
  const [steps, validation] = sections.slice(-2) as [Section, Section];
  refuseMisorder(sections, file);
  const configuration = given === SECTIONS ? sections[0]! : noConfiguration(document, [steps, validation], file);
  const { settings, strays } = readSettings(configuration);
  refuseShiftKeys(settings, file);
  refuseLostLimits({
    ...{ document, configuration, settings, file },
    prose: [steps, validation],
    keys: TASK_KEYS,
    ofShift: false,
  });
  refuseDuplicates(settings, 'bad-task', file);
  return {
    text,
    settings: plainSettings(settings),
    strays,
    steps: readEntries(steps, 'numbered', file),
    criteria: readEntries(validation, 'bullets', file),
    sections: { configuration: spanOf(configuration), steps: spanOf(steps), validation: spanOf(validation) },
  };
}

function refuseShiftKeys(settings: readonly Setting[], file: string): void {
  const found = settings.find(({ key }) => WORKSPACE_SHIFT_KEYS.some((each) => each === key));
  if (found === undefined) return;
  const message = `\`${found.key}\` is a setting of the shift, not of a task`;
  const hint = 'put it in the Shift Configuration of manager.md';
  throw new NightshiftError('bad-task', message, hint, { file, line: found.line });
}

/** `## Configuration` may be left out, but not misspelt. */
function hasConfiguration({ sections }: Markdown): boolean {
  return nearest(SECTIONS[0], [...sections.map(({ name }) => name)]) !== undefined;
}

/** An empty section. Settings that stand where it would be missed are an error. */
function noConfiguration({ lines }: Markdown, prose: readonly [Section, Section], file: string): Section {
  const outside = lines.filter((line) => !prose.some((section) => section.lines.includes(line)));
  const [steps] = prose;
  const empty = { name: SECTIONS[0], heading: steps.heading, start: steps.start, end: steps.start };
  const lost = readSettings({ ...empty, lines: outside }).settings.find(({ key }) => KNOWN_KEYS.includes(key));
  if (lost === undefined) return { ...empty, lines: [] };
  const message = `\`${lost.key}\` is set outside of \`## ${SECTIONS[0]}\``;
  const hint = `write \`## ${SECTIONS[0]}\` above it`;
  throw new NightshiftError('bad-task', message, hint, { file, line: lost.line });
}

function spanOf({ start, end }: Section): Span {
  return { start, end };
}

function refuseMisorder(sections: readonly Section[], file: string): void {
  for (const [i, section] of sections.entries()) {
    const above = sections[i - 1];
    if (above === undefined || above.start < section.start) continue;
    const message = `the section \`## ${section.name}\` comes before \`## ${above.name}\``;
    const hint = `the order is ${SECTIONS.join(', ')}`;
    throw new NightshiftError('bad-task', message, hint, { file, line: section.heading.number });
  }
}

const WORDING: Record<ListKind, { entry: string; form: string }> = {
  numbered: { entry: 'step', form: 'a numbered list: `1. what to do first`' },
  bullets: { entry: 'criterion', form: 'a list with a bullet for each criterion: `- what must be true`' },
};

function readEntries(section: Section, kind: ListKind, file: string): Entry[] {
  const { entry, form } = WORDING[kind];
  const fail = (message: string, hint: string, line: number) =>
    new NightshiftError('bad-task', message, hint, { file, line });
  const items = listItems(section.lines, kind);
  const first = items[0]?.lines[0];
  const orphan = section.lines.find((line) => line.block !== undefined && (!first || line.start < first.start));
  if (orphan !== undefined) {
    const hint = `put it below its ${entry}; \`## ${section.name}\` is ${form}`;
    throw fail(`the fenced block does not belong to a ${entry}`, hint, orphan.number);
  }
  if (items.length === 0)
    throw fail(`the section \`## ${section.name}\` is empty`, `write ${form}`, section.heading.number);
  return items.map((item, index) => {
    const line = item.lines[0]!;
    if (isEmpty(item)) throw fail(`${entry} ${index + 1} is empty`, `write it, or remove its marker`, line.number);
    const blocks = [...new Set(item.lines.flatMap(({ block }) => block ?? []))];
    return { number: index + 1, start: line.start, end: item.lines.at(-1)!.end, line: line.number, blocks };
  });
}

/** One warning for each unknown key and each list item that is not a setting. */
export function taskWarnings(document: TaskDocument, file: string): string[] {
  return settingWarnings(document, TASK_KEYS, file);
}

/** Throws `bad-task` if a block looks like a script that runs, but does not: the item would pass unchecked. */
export function refuseOtherShells(
  document: TaskDocument,
  file: string,
  agent = document.settings.find(({ key }) => key === 'agent')?.value ?? '',
  findAgent: FindTraits = findTraits,
): void {
  const refuse = (what: string, entries: readonly Entry[]) => {
    for (const { number, blocks } of entries) {
      const block = blocks.find(({ info }) => OTHER_SHELLS.includes(info));
      if (block === undefined) continue;
      const message = `the \`\`\`${block.info} block of ${what} ${number} would not run`;
      const hint = 'write ```sh or ```bash for a script, ```text for text';
      throw new NightshiftError('bad-task', message, hint, { file, line: block.line - 1 });
    }
  };
  // For other agents, a block below a step is text.
  if (findAgent(agent)?.runsSteps) refuse('step', document.steps);
  refuse('criterion', document.criteria);
}

/** The first step or criterion that is still the template's, if any. */
export function findUnwritten({ text, steps, criteria }: TaskDocument): Task['unwritten'] {
  const isUnwritten = ({ start, end }: Entry) => text.slice(start, end).replace(MARKER, '').startsWith(UNWRITTEN);
  const step = steps.find(isUnwritten);
  const entry = step ?? criteria.find(isUnwritten);
  return entry && { what: `${step ? 'step' : 'criterion'} ${entry.number}`, line: entry.line };
}

/** The steps without markers and common indentation, as `replaceSteps` takes them. */
export function stepTexts({ text, steps }: TaskDocument): string[] {
  return steps.map(({ start, end }) => entryText(text.slice(start, end)));
}

/**
 * Replaces the list of steps, numbered from 1 in the style of the file. An unchanged step keeps its bytes, and so
 * does everything that is not a step: comments between steps stay, those of removed steps move below the last. Throws
 * `bad-task` if the result would not have exactly these steps between the same Configuration and Validation (a step
 * with an unclosed block, an empty one, none at all).
 */
export function replaceSteps(text: string, steps: readonly string[]): string {
  const document = parseTask(text, 'the task');
  const wanted = steps.map(normalizeText);
  const changed = splice(text, document.steps[0]!.start, document.steps.at(-1)!.end, writeList(document, wanted));
  const present = stepTexts(document);
  const closed = wanted.every((step) => present.includes(step) || isClosed(step));
  const result = wanted.length > 0 && closed ? tryParse(changed) : undefined;
  const kept =
    result !== undefined &&
    sameItems(stepTexts(result), wanted) &&
    bodyOf(result, 'configuration') === bodyOf(document, 'configuration') &&
    bodyOf(result, 'validation') === bodyOf(document, 'validation');
  if (kept) return changed;
  const hint = 'each needs text, and its fenced blocks and comments must be closed';
  throw new NightshiftError('bad-task', 'these steps cannot be written as a numbered list', hint);
}

function writeList(document: TaskDocument, wanted: readonly string[]): string {
  const { text, steps } = document;
  const sources = steps.map(({ start, end }) => text.slice(start, end));
  const present = sources.map(entryText);
  const gaps = steps.slice(1).map((step, i) => text.slice(steps[i]!.end, step.start));
  const eol = scan(text).eol;
  const style = styleOf(sources[0]!, eol);
  const usual = gaps.findLast((gap) => gap.trim() === '') ?? eol;
  const written = wanted.map((step, i) => {
    const same = present[i] === step ? i : present.indexOf(step);
    return renumberEntry(sources[same] ?? '', i + 1) ?? renderEntry(step, i + 1, style);
  });
  const joined = written.map((entry, i) => (i === 0 ? entry : (gaps[i - 1] ?? usual) + entry)).join('');
  const leftover = gaps.slice(Math.max(0, wanted.length - 1)).filter((gap) => gap.trim() !== '');
  return joined + leftover.map((gap) => gap.trimEnd()).join('');
}

/** No comment or block extends from a step into what follows, even if a `-->` stands there. */
function isClosed(step: string): boolean {
  return scan(`${step}\n-->`).lines.at(-2)?.open === false;
}

function sameItems(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((text, i) => text === b[i]);
}

function bodyOf({ text, sections }: TaskDocument, name: SectionName): string {
  return text.slice(sections[name].start, sections[name].end);
}

/** Undefined: the text is no task. */
export function tryParse(text: string): TaskDocument | undefined {
  try {
    return parseTask(text, '');
  } catch (error) {
    if (error instanceof NightshiftError) return undefined;
    throw error;
  }
}
