import { compare } from '../text/likeness.ts';
import { type LessonBudget, makeRoom, trim } from './budget.ts';
import { byId, Draft } from './draft.ts';
import { blameReason, freshSupport, isBlamed, withSupport, withVotes } from './evidence.ts';
import type { Grouping, RecommendationGroup } from './grouping.ts';
import { isApplied, type LessonChange, type LessonLedger, type LessonRecord } from './lesson.ts';
import { type FoldedRecommendation, inOrder, type LessonVote } from './reports.ts';
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
  /** How the manager's agent groups the recommendations, as `readGrouping` returns it. */
  readonly grouping?: Grouping;
  /** Why a lesson is held; `others` are the lessons that would stand beside it. */
  readonly screen: (text: string, others: readonly string[]) => string | undefined;
  /** The Steps without lessons, as `authorSteps` returns them. */
  readonly authorSteps: readonly string[];
}

export interface Folded {
  readonly ledger: LessonLedger;
  readonly changes: readonly LessonChange[];
}

/** How many rows must recommend a lesson. */
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
export function foldReports(ledger: LessonLedger, input: FoldInput): Folded {
  if (input.mode === 'off') return { ledger, changes: [] };
  const draft = new Draft(ledger, input);
  countVotes(draft, input.votes);
  for (const group of groupsOf(input)) recommend(draft, input, group);
  trim(draft, input.budget);
  while (admitOne(draft, input));
  forgetOldest(draft);
  return { ledger: draft.ledger(), changes: draft.changes() };
}

function countVotes(draft: Draft, votes: readonly LessonVote[]): void {
  for (const lesson of draft.applied) {
    const own = votes.filter((vote) => vote.lesson === lesson.id);
    const voted = own.length > 0 ? withVotes(lesson, own) : lesson;
    const isRetired = voted.state === 'firm' && isBlamed(voted);
    draft.put(isRetired ? { ...voted, retirements: (voted.retirements ?? 0) + 1 } : voted);
    if (isRetired) draft.move(voted.id, 'retired', blameReason(voted));
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

function recommend(draft: Draft, { authorSteps, screen }: FoldInput, group: RecommendationGroup): void {
  const { text, members, sameAs, after } = group;
  const named = sameAs === undefined ? undefined : draft.get(sameAs);
  const known = named ?? draft.saying([text, ...members.map((member) => member.text)]);
  if (known) {
    draft.put(withWordings(withSupport(known, members), [text, ...members.map((member) => member.text)]));
    return;
  }
  if (isCovered(text, authorSteps)) return;
  const step = contradictedStep(text, authorSteps);
  const reason = step === undefined ? screen(text, othersOf(draft)) : `contradicts step ${step} of the author`;
  const place = after === undefined ? {} : { after };
  const added = draft.add({ text, ...place }, reason === undefined ? 'waiting' : 'held', reason);
  draft.put(
    withWordings(
      withSupport(added, members),
      members.map((member) => member.text),
    ),
  );
}

function othersOf(draft: Draft, lesson?: LessonRecord): string[] {
  const beside = draft.lessons.filter((other) => isApplied(other) || other.state === 'waiting');
  return beside.filter(({ id }) => id !== lesson?.id).map(({ text }) => text);
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

/** Moves one lesson to the Steps, or to `held`; whether there was one. */
function admitOne(draft: Draft, input: FoldInput): boolean {
  const ready = draft.lessons.filter((lesson) => isReady(lesson, input.mode)).sort(bySupport);
  return ready.some((lesson) => {
    if (isBlocked(draft, lesson, ready) || isCovered(lesson.text, input.authorSteps)) return false;
    const reason = input.screen(lesson.text, othersOf(draft, lesson));
    if (reason !== undefined) {
      draft.move(lesson.id, 'held', reason);
      return true;
    }
    if (!makeRoom(draft, lesson, input.budget)) return false;
    draft.move(lesson.id, 'firm');
    return true;
  });
}

function isReady(lesson: LessonRecord, mode: LessonMode): boolean {
  if (mode === 'off' || (lesson.state !== 'waiting' && lesson.state !== 'retired')) return false;
  return freshSupport(lesson).length >= (lesson.freshFrom === undefined ? ROWS[mode] : freshRows(lesson));
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
