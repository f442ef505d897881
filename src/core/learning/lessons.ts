import type { Lesson, Recommendation } from '../model/events.ts';
import { compare, normalise, share } from '../text/likeness.ts';
import { createSecretFinder, type Metadata, readRowValues } from './screen/row-values.ts';

/** How Steps change: small deltas applied by a pure function. Rewriting the whole text would lose things. */
export type StepChange =
  | { readonly op: 'add'; readonly after: number; readonly text: string }
  | { readonly op: 'replace'; readonly step: number; readonly text: string }
  | { readonly op: 'remove'; readonly step: number };

export interface Refusal {
  readonly refused: string;
}

/**
 * The Steps after the changes, or why the whole set is rejected. Numbers refer to the Steps before any change;
 * `after: 0` is before the first; several texts added at one place keep their order.
 */
export function applyChanges(steps: readonly string[], changes: readonly StepChange[]): string[] | Refusal {
  const added = new Map<number, string[]>();
  const changed = new Map<number, string | undefined>();
  for (const change of changes) {
    const text = change.op === 'remove' ? undefined : withoutNumber(change.text);
    if (text === '') return { refused: `a change of kind ${change.op} has no text` };
    const place = change.op === 'add' ? change.after : change.step;
    const first = change.op === 'add' ? 0 : 1;
    if (!Number.isInteger(place) || place < first || place > steps.length) {
      return { refused: `there is no step ${place} to ${change.op === 'add' ? 'add after' : change.op}` };
    }
    if (change.op === 'add') {
      added.set(place, [...(added.get(place) ?? []), text!]);
    } else {
      if (changed.has(place)) return { refused: `step ${place} would be changed twice` };
      changed.set(place, text);
    }
  }
  const result = [...(added.get(0) ?? [])];
  for (const [index, step] of steps.entries()) {
    const kept = changed.has(index + 1) ? changed.get(index + 1) : step;
    if (kept !== undefined) result.push(kept);
    result.push(...(added.get(index + 1) ?? []));
  }
  return result.length > 0 ? result : { refused: 'no step would be left' };
}

/** Rule L2: does not add what the Steps, or an earlier change, already say. */
export function withoutRepeats(steps: readonly string[], changes: readonly StepChange[]): StepChange[] {
  const said = [...steps];
  return changes.filter((change) => {
    if (change.op !== 'add') return true;
    const added = withoutNumber(change.text);
    if (said.some((text) => compare(text, added) === 'same')) return false;
    said.push(added);
    return true;
  });
}

/** Steps are shown with numbers, so models answer with numbers; the document sets its own. */
function withoutNumber(text: string): string {
  return text
    .trim()
    .replaceAll('\r\n', '\n')
    .replace(/^\d+[.)]\s+/, '');
}

/** Your own longer steps stay; these bound what a lesson adds. */
const LONGEST_STEP = 2000;
const MOST_STEPS = 100;

export interface LessonCheck {
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** The names of the placeholders in a text, with or without braces. */
  readonly placeholdersOf: (text: string) => readonly string[];
  readonly secrets: readonly string[];
  /** The metadata of all rows; read once. */
  readonly rows: Iterable<Metadata>;
}

/** Why these Steps may not replace the previous ones (rule L3), or undefined. */
export function checkLessons({ before, after, placeholdersOf, secrets, rows }: LessonCheck): string | undefined {
  const known = new Set(before);
  const brought = after.filter((step) => !known.has(step));
  if (after.length === 0) return 'no step would be left';
  if (after.length > MOST_STEPS && after.length > before.length) return `there would be more than ${MOST_STEPS} steps`;
  const blocks = new Set(before.flatMap((step) => readFences(step).blocks));
  for (const step of brought) {
    const broken = brokenStructure(step, blocks);
    if (broken !== undefined) return broken;
  }

  const names = (steps: readonly string[]) =>
    new Set(steps.flatMap(placeholdersOf).map((name) => name.replace(/^\{|\}$/g, '')));
  const [named, stillNamed] = [names(before), names(after)];
  for (const name of named) if (!stillNamed.has(name)) return `the placeholder {${name}} would be gone`;
  const fresh = [...stillNamed].filter((name) => !named.has(name));

  const text = brought.join('\n');
  if (createSecretFinder(secrets)(text)) return 'a secret would become part of the Steps';
  const { columns, columnOf } = readRowValues(rows, [text], before.join('\n'));
  if (columnOf.has(text)) return `a value of one row would become part of the Steps (column ${columnOf.get(text)})`;
  // Not `{ENV:...}`: a lesson must not put a secret into prompts. Not an unknown name: every later item would fail.
  const stray = fresh.find((name) => !columns.has(name));
  return stray === undefined ? undefined : `a step would bring in the placeholder {${stray}}`;
}

/** What would change the structure of the document around a step. */
function brokenStructure(step: string, knownBlocks: ReadonlySet<string>): string | undefined {
  if (step.trim() === '') return 'a step would be empty';
  if (step.length > LONGEST_STEP) return `a step would be longer than ${LONGEST_STEP} characters`;
  const { blocks, prose } = readFences(step);
  // A new block would be text from data that gets executed.
  if (blocks.some((block) => !knownBlocks.has(block)) || prose.some((line) => /```|~~~/.test(line))) {
    return 'a step would bring in a fenced code block';
  }
  if (prose.some((line) => line.includes('<!--'))) return 'a step would open an HTML comment';
  if (prose.some((line) => /^\s*(#|=+\s*$|-+\s*$)/.test(line))) return 'a step would hold a heading';
  const behind = step.startsWith(prose[0] ?? '') ? prose.slice(1) : prose;
  if (behind.some((line) => /^ ?\d+[.)](\s|$)/.test(line))) return 'a step would hold another numbered step';
  if (/[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u.test(step)) return 'a step would hold control characters';
  return undefined;
}

/** The fenced blocks of a step, and the lines outside of them. An unclosed fence counts as prose. */
function readFences(step: string): { blocks: string[]; prose: string[] } {
  const lines = step.split('\n').map((line) => line.trimEnd());
  const blocks: string[] = [];
  const prose: string[] = [];
  for (let i = 0; i < lines.length; i++) {
    const fence = /^\s*(`{3,}|~{3,})/.exec(lines[i]!)?.[1];
    const length = fence === undefined ? -1 : lines.slice(i + 1).findIndex((line) => line.trim() === fence);
    if (length === -1) {
      prose.push(lines[i]!);
    } else {
      blocks.push(lines.slice(i, i + length + 2).join('\n'));
      i += length + 1;
    }
  }
  return { blocks, prose };
}

export interface PlainMerge {
  /** All are added at the end. */
  readonly changes: StepChange[];
  /** The origin of each change, in the same order (rule L4). */
  readonly lessons: Lesson[];
}

/**
 * Rule L6, without a model: what at least two rows recommended, if the Steps neither say nor contradict it. Of two
 * contradicting lessons, the one of more rows wins; if they are equal, neither is used.
 */
export function mergePlainly(recommendations: readonly Recommendation[], steps: readonly string[]): PlainMerge {
  const groups: Recommendation[][] = [];
  for (const recommendation of [...recommendations].sort((a, b) => a.row - b.row)) {
    if (normalise(recommendation.text) === '') continue;
    const group = groups.find(([first]) => compare(first!.text, recommendation.text) === 'same');
    if (group === undefined) groups.push([recommendation]);
    else group.push(recommendation);
  }
  const support = (group: readonly Recommendation[]) => new Set(group.map(({ item }) => item)).size;
  const agreed = groups.filter((group) => support(group) >= 2);
  const chosen = agreed.filter((group) => {
    const text = group[0]!.text;
    const disputed = agreed.some(
      (other) => other !== group && support(other) >= support(group) && compare(other[0]!.text, text) === 'contrary',
    );
    return !disputed && !steps.some((step) => covers(step, text));
  });
  const lessons = chosen.map((group) => toLesson(plainest(group), group));
  return { changes: lessons.map(({ text }) => ({ op: 'add', after: steps.length, text })), lessons };
}

/** Whether a step, or one of its sentences, already says it or contradicts it. */
function covers(step: string, text: string): boolean {
  if (` ${normalise(step)} `.includes(` ${normalise(text)} `)) return true;
  return [step, ...step.split(/\n|(?<=[.;!?])\s/)].some((part) => compare(part, text) !== 'different');
}

/** The most frequent wording, then the shortest. The order of the recommendations does not matter. */
function plainest(group: readonly Recommendation[]): string {
  const votes = new Map<string, number>();
  for (const { text } of group) votes.set(normalise(text), (votes.get(normalise(text)) ?? 0) + 1);
  const vote = (text: string) => votes.get(normalise(text))!;
  const texts = group.map(({ text }) => text.trim()).sort();
  return texts.sort((a, b) => vote(b) - vote(a) || a.length - b.length)[0]!;
}

/** Below this share, a text shows no trace of a recommendation. */
const TRACE = 0.4;
/** When a model merges two recommendations, it rarely keeps the same number of words of both. */
const ALMOST = 0.8;

/**
 * Where each text of a model comes from (rule L4): the rows whose recommendation is most fully in it, or all
 * considered rows if that is unclear.
 */
export function lessonsOf(changes: readonly StepChange[], recommendations: readonly Recommendation[]): Lesson[] {
  return changes.flatMap((change) => {
    if (change.op === 'remove') return [];
    const text = withoutNumber(change.text);
    const shares = recommendations.map((recommendation) => share(recommendation.text, text));
    const most = Math.max(0, ...shares);
    const origin = recommendations.filter((_, i) => most < TRACE || shares[i]! >= most * ALMOST);
    return [toLesson(text, origin)];
  });
}

function toLesson(text: string, origin: readonly Recommendation[]): Lesson {
  const attempts = new Map(origin.map((each) => [each.row, each.attempts]));
  const rows = [...attempts.keys()].sort((a, b) => a - b);
  return { text, rows, attempts: rows.map((row) => attempts.get(row)!) };
}
