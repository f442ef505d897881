import { compare, differInNumbers, normalise, overlap, share } from '../text/likeness.ts';
import type { LessonBook } from './lesson.ts';
import { type FoldedRecommendation, inOrder } from './reports.ts';
import { asLesson, cluster, plainest } from './wording.ts';

/** The answer of the manager's agent: which recommendations say the same, and in which words. */
export interface GroupingAnswer {
  readonly lessons: readonly AnsweredGroup[];
  readonly summary: string;
}

interface AnsweredGroup {
  readonly text: string;
  /** Numbers of recommendations, from 1, in the order of `inOrder`. */
  readonly from: readonly number[];
  /** The id of a lesson that already says it. */
  readonly same_as: string | null;
  /** The author's step it comes after. */
  readonly after: number | null;
}

export interface RecommendationGroup {
  readonly text: string;
  readonly members: readonly FoldedRecommendation[];
  /** The id of a lesson. */
  readonly sameAs?: string;
  readonly after?: number;
}

/** A validated answer. */
export interface Grouping {
  readonly groups: readonly RecommendationGroup[];
}

interface GroupingContext {
  readonly book: LessonBook;
  readonly task: string;
  readonly recommendations: readonly FoldedRecommendation[];
  readonly authorSteps: readonly string[];
}

/** Below these shares, a text shows no trace of a recommendation, or is not made of its words. */
const TRACE = 0.3;
const OWN_WORDS = 0.5;

/** Whether there is anything to group that the measure of likeness does not settle. */
export function needsGrouping(
  { lessons }: LessonBook,
  task: string,
  recommendations: readonly FoldedRecommendation[],
): boolean {
  const texts = lessons
    .filter((lesson) => lesson.task === task)
    .flatMap(({ text, wordings = [] }) => [text, ...wordings]);
  const open = cluster(inOrder(recommendations)).filter(
    (group) => !texts.some((text) => group.some((member) => compare(member.text, text) === 'same')),
  );
  return open.length > 1 || (open.length === 1 && texts.length > 0);
}

/**
 * The usable part of the answer, or why it is refused as a whole. The agent may only say what belongs together, and
 * in words that are there: a recommendation without a trace in its group leaves it and counts by the plain rule.
 */
export function readGrouping(
  answer: GroupingAnswer,
  context: GroupingContext,
): Grouping | { readonly refused: string } {
  const numbered = inOrder(context.recommendations);
  const known = new Map(
    context.book.lessons.filter(({ task }) => task === context.task).map((each) => [each.id, each]),
  );
  const used = new Set<number>();
  const groups: RecommendationGroup[] = [];
  for (const group of answer.lessons) {
    for (const number of group.from) {
      if (numbered[number - 1] === undefined) return { refused: `there is no recommendation ${number}` };
      if (used.has(number)) return { refused: `recommendation ${number} is in two lessons` };
      used.add(number);
    }
    const lesson = group.same_as === null ? undefined : known.get(group.same_as);
    if (group.same_as !== null && lesson === undefined) return { refused: `there is no lesson ${group.same_as}` };
    const named = group.from.map((number) => numbered[number - 1]!);
    const text = lesson?.text ?? wordingOf(group.text, named);
    const members = named.filter((member) => isTraced(member.text, text));
    if (members.length === 0 || isMixed(members)) continue;
    const after = placeIn(group.after, context.authorSteps);
    groups.push({ text, members, ...(lesson ? { sameAs: lesson.id } : {}), ...(after === undefined ? {} : { after }) });
  }
  return { groups };
}

/** The agent's words, if they are those of the recommendations. */
function wordingOf(answered: string, members: readonly FoldedRecommendation[]): string {
  const text = asLesson(answered);
  const words = members.map((member) => member.text).join(' ');
  const isOwn = normalise(text) !== '' && share(text, words) >= OWN_WORDS && !differInNumbers(text, words);
  return isOwn || members.length === 0 ? text : plainest(members);
}

function isTraced(recommendation: string, text: string): boolean {
  const isOpposed = compare(recommendation, text) === 'contrary' || differInNumbers(recommendation, text);
  return !isOpposed && overlap(recommendation, text) >= TRACE;
}

function isMixed(members: readonly FoldedRecommendation[]): boolean {
  return members.some((a) => members.some((b) => compare(a.text, b.text) === 'contrary'));
}

function placeIn(after: number | null, steps: readonly string[]): number | undefined {
  const isPlace = after !== null && Number.isInteger(after) && after >= 0 && after < steps.length;
  return isPlace ? after : undefined;
}
