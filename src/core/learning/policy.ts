import type { LessonVote } from '../model/events.ts';
import { compare } from '../text/likeness.ts';
import { type LessonBudget, retireDisplaced, roomFor, trim } from './budget.ts';
import { byId, Draft } from './draft.ts';
import { freshSupport, whyBlamed, withSupport, withVotes } from './evidence.ts';
import { type Grouping, needsGrouping, type RecommendationGroup } from './grouping.ts';
import { isApplied, type LessonBook, type LessonChange, type LessonRecord } from './lesson.ts';
import { type FoldedRecommendation, inOrder } from './reports.ts';
import { cluster, contradictedStep, isCovered, plainest } from './wording.ts';

export type LessonMode = 'eager' | 'careful' | 'off';

export interface FoldInput {
  readonly task: string;
  readonly mode: LessonMode;
  readonly budget: LessonBudget;
  /** ISO; not before any `at`. */
  readonly now: string;
  readonly recommendations: readonly FoldedRecommendation[];
  readonly votes: readonly LessonVote[];
  /** How the manager's agent groups the recommendations, as `readGrouping` returns it; without a usable answer, none. */
  readonly grouping?: Grouping;
  /** Why a lesson is held; `others` are the lessons that would stand beside it. */
  readonly screen: (text: string, others: readonly string[]) => string | undefined;
  /** The Steps without lessons, as `authorSteps` returns them. */
  readonly authorSteps: readonly string[];
}

export interface Folded {
  readonly book: LessonBook;
  readonly changes: readonly LessonChange[];
}

/** How many rows must recommend a lesson. Without an answer of the manager's agent, two in every mode (rule L6). */
const ROWS = { eager: 1, careful: 2 };
/**
 * One that left the Steps needs two fresh rows in every mode, and twice as many each time it was blamed again: rows
 * that share a mistake must not bring it back for ever.
 */
const FRESH_ROWS = 2;
const MOST_FRESH_ROWS = 16;
/** Of waiting, held and retired lessons, the ones heard of last are kept. */
const MOST_KEPT = 200;
/** So many other wordings of a lesson are remembered. */
const MOST_WORDINGS = 5;

/**
 * The lessons after the reports of a batch. Folding the same reports again changes nothing, and their order does not
 * matter. `reconcile` then brings the Steps in line.
 */
export function foldReports(book: LessonBook, input: FoldInput): Folded {
  if (input.mode === 'off') return { book, changes: [] };
  const draft = new Draft(book, input);
  countVotes(draft, input.votes);
  const isUngrouped = input.grouping === undefined && needsGrouping(book, input.task, input.recommendations);
  const added = groupsOf(input).flatMap((group) => recommend(draft, input.authorSteps, group, isUngrouped) ?? []);
  holdNew(draft, input, added);
  trim(draft, input.budget);
  const screened = new Set(added);
  while (admitOne(draft, input, screened));
  forgetOldest(draft);
  return { book: draft.book(), changes: draft.changes() };
}

function countVotes(draft: Draft, votes: readonly LessonVote[]): void {
  for (const lesson of draft.applied) {
    const own = votes.filter((vote) => vote.lesson === lesson.id);
    if (own.length > 0) draft.put(withVotes(lesson, own));
  }
  const applied = draft.applied;
  for (const lesson of applied) {
    const reason = lesson.state === 'firm' ? whyBlamed(lesson, applied) : undefined;
    if (reason === undefined) continue;
    draft.put({ ...lesson, retirements: (lesson.retirements ?? 0) + 1 });
    draft.move(lesson.id, 'retired', reason);
  }
}

/** The groups of the manager's agent, then the rest by the plain rule. */
function groupsOf({ recommendations, grouping }: FoldInput): RecommendationGroup[] {
  const groups = grouping?.groups ?? [];
  const grouped = new Set(groups.flatMap(({ members }) => members.map(nameOf)));
  const rest = inOrder(recommendations).filter((each) => !grouped.has(nameOf(each)));
  return [...groups, ...cluster(rest).map((members) => ({ text: plainest(members), members }))];
}

function nameOf({ item, text }: FoldedRecommendation): string {
  return JSON.stringify([item, text]);
}

/** Counts what a group of rows recommends; the id of the lesson, if it is new. */
function recommend(
  draft: Draft,
  authorSteps: readonly string[],
  group: RecommendationGroup,
  isUngrouped: boolean,
): string | undefined {
  const { text, members, sameAs, after } = group;
  const texts = [text, ...members.map((member) => member.text)];
  const known = (sameAs === undefined ? undefined : draft.get(sameAs)) ?? draft.saying(texts);
  if (known === undefined && isCovered(text, authorSteps)) return undefined;
  const place = after === undefined ? {} : { after };
  const lesson = known ?? draft.add({ text, ...place, ...(isUngrouped ? { ungrouped: true } : {}) }, 'waiting');
  draft.put(withWordings(withSupport(lesson, members), texts));
  return known === undefined ? lesson.id : undefined;
}

/** Each is judged beside all others, so that an attack in two halves shows in both. */
function holdNew(draft: Draft, { authorSteps, screen }: FoldInput, added: readonly string[]): void {
  const reasons = added.map((id) => {
    const lesson = draft.get(id)!;
    const step = contradictedStep(lesson.text, authorSteps);
    return step === undefined ? screen(lesson.text, othersOf(draft, id)) : `contradicts step ${step} of the author`;
  });
  for (const [i, id] of added.entries()) if (reasons[i] !== undefined) draft.put(held(draft.get(id)!, reasons[i]));
}

/** A new lesson that is held was never anything else. */
function held(lesson: LessonRecord, reason: string): LessonRecord {
  return { ...lesson, state: 'held', reason };
}

function othersOf(draft: Draft, id: string): string[] {
  const beside = draft.lessons.filter((other) => isApplied(other) || other.state === 'waiting');
  return beside.filter((other) => other.id !== id).map(({ text }) => text);
}

/** Remembers what the measure of likeness would not recognise next time. */
function withWordings(lesson: LessonRecord, texts: readonly string[]): LessonRecord {
  const wordings = [...(lesson.wordings ?? [])];
  for (const text of texts) {
    const isKnown = [lesson.text, ...wordings].some((known) => compare(known, text) !== 'different');
    if (!isKnown && wordings.length < MOST_WORDINGS) wordings.push(text);
  }
  return wordings.length === 0 ? lesson : { ...lesson, wordings };
}

/** Moves one lesson to the Steps, or to `held`; whether there was one. `screened`: not again, it may take long. */
function admitOne(draft: Draft, input: FoldInput, screened: ReadonlySet<string>): boolean {
  const ready = draft.lessons.filter((lesson) => isReady(lesson, input.mode)).sort(bySupport);
  for (const lesson of ready) {
    const { id, text } = lesson;
    if (isBlocked(draft, lesson, ready) || isCovered(text, input.authorSteps)) continue;
    const displaced = roomFor(draft.applied, lesson, input.budget);
    if (displaced === undefined) continue;
    const reason = screened.has(id) ? undefined : input.screen(text, othersOf(draft, id));
    if (reason === undefined) retireDisplaced(draft, displaced);
    draft.move(id, reason === undefined ? 'firm' : 'held', reason);
    return true;
  }
  return false;
}

function isReady(lesson: LessonRecord, mode: LessonMode): boolean {
  if (mode === 'off' || (lesson.state !== 'waiting' && lesson.state !== 'retired')) return false;
  const rows = lesson.ungrouped ? ROWS.careful : ROWS[mode];
  return freshSupport(lesson).length >= (lesson.freshFrom === undefined ? rows : freshRows(lesson));
}

function freshRows({ retirements = 1 }: LessonRecord): number {
  return Math.min(MOST_FRESH_ROWS, FRESH_ROWS * 2 ** (retirements - 1));
}

/** What stands in the Steps stays. Of two contradicting lessons that are ready, the one of more rows wins, if any. */
function isBlocked(draft: Draft, lesson: LessonRecord, ready: readonly LessonRecord[]): boolean {
  const rows = freshSupport(lesson).length;
  const rivals = ready.filter((other) => other.id !== lesson.id && freshSupport(other).length >= rows);
  return (
    draft.applied.some((other) => compare(other.text, lesson.text) !== 'different') ||
    rivals.some((other) => compare(other.text, lesson.text) === 'contrary')
  );
}

function bySupport(a: LessonRecord, b: LessonRecord): number {
  return freshSupport(b).length - freshSupport(a).length || byId(a, b);
}

/** What an attacker or a chatty model says once must not fill the file. Their ids are not used again. */
function forgetOldest(draft: Draft): void {
  for (const state of ['waiting', 'held', 'retired'] as const) {
    const lessons = draft.lessons.filter((lesson) => lesson.state === state && !lesson.inSteps);
    const heard = ({ support, since }: LessonRecord) => support.at(-1)?.at ?? since;
    const newest = lessons.sort((a, b) => (heard(a) < heard(b) ? 1 : heard(a) > heard(b) ? -1 : byId(a, b)));
    for (const { id } of newest.slice(MOST_KEPT)) draft.forget(id);
  }
}
