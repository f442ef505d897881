import { byId, type Draft } from './draft.ts';
import { freshSupport, worthOf } from './evidence.ts';
import type { LessonRecord } from './lesson.ts';
import { ordered } from './reports.ts';

/** For the lessons of one task: how many, and how many bytes of text. */
export interface LessonBudget {
  readonly lessons: number;
  readonly bytes: number;
}

const OUT = 'the budget has no room for it';

/** Retires the least useful lessons while they are over the budget, because it was lowered or you added lessons. */
export function trim(draft: Draft, budget: LessonBudget): void {
  const firm = draft.applied.filter(({ state }) => state === 'firm').sort(leastUsefulFirst);
  for (const lesson of firm) {
    if (fits(draft.applied, budget)) return;
    draft.move(lesson.id, 'retired', OUT);
  }
}

/**
 * Retires what a new lesson displaces; false if it can't have room. It displaces only what fewer rows found helpful
 * than recommend the new one, and only what was admitted before it was recommended: otherwise lessons without votes
 * would take turns.
 */
export function makeRoom(draft: Draft, lesson: LessonRecord, budget: LessonBudget): boolean {
  const support = freshSupport(lesson);
  const newest = support.at(-1)?.at ?? '';
  const weaker = ({ state, since, by }: LessonRecord) => state === 'firm' && since < newest && by === undefined;
  const victims = draft.applied
    .filter((other) => weaker(other) && worthOf(other) < support.length)
    .sort(leastUsefulFirst);
  const gone: LessonRecord[] = [];
  const left = () => [...draft.applied.filter((other) => !gone.includes(other)), lesson];
  while (!fits(left(), budget)) {
    const victim = victims.shift();
    if (victim === undefined) return false;
    gone.push(victim);
  }
  for (const { id } of gone) draft.move(id, 'retired', OUT);
  return true;
}

function fits(lessons: readonly LessonRecord[], budget: LessonBudget): boolean {
  const bytes = lessons.reduce((sum, { text }) => sum + new TextEncoder().encode(text).length, 0);
  return lessons.length <= budget.lessons && bytes <= budget.bytes;
}

/** What a person added or accepted goes last. */
function leastUsefulFirst(a: LessonRecord, b: LessonRecord): number {
  const person = ({ by }: LessonRecord) => (by === undefined ? 0 : 1);
  return person(a) - person(b) || worthOf(a) - worthOf(b) || ordered(a.since, b.since) || byId(a, b);
}
