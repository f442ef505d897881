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
    retireDisplaced(draft, [lesson]);
  }
}

/**
 * What a new lesson displaces; undefined if it can't have room. It displaces only what fewer rows found helpful than
 * recommend the new one, and only what was admitted before it was recommended: otherwise lessons without votes would
 * take turns.
 */
export function roomFor(
  applied: readonly LessonRecord[],
  lesson: LessonRecord,
  budget: LessonBudget,
): LessonRecord[] | undefined {
  const support = freshSupport(lesson);
  const newest = support.at(-1)?.at ?? '';
  const isOlder = ({ state, since, by }: LessonRecord) => state === 'firm' && since < newest && by === undefined;
  const weaker = applied.filter((other) => isOlder(other) && worthOf(other) < support.length).sort(leastUsefulFirst);
  for (let count = 0; count <= weaker.length; count++) {
    const gone = weaker.slice(0, count);
    if (fits([...applied.filter((other) => !gone.includes(other)), lesson], budget)) return gone;
  }
  return undefined;
}

export function retireDisplaced(draft: Draft, displaced: readonly LessonRecord[]): void {
  for (const { id } of displaced) draft.move(id, 'retired', OUT);
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
