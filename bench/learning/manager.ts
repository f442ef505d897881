import type { GroupingAnswer } from '../../src/core/learning/grouping.ts';
import type { LessonLedger } from '../../src/core/learning/lesson.ts';
import { type FoldedRecommendation, inOrder } from '../../src/core/learning/reports.ts';
import { FACTS, SHARED_HARM } from './sentences.ts';

interface Question {
  readonly ledger: Pick<LessonLedger, 'lessons'>;
  readonly recommendations: readonly FoldedRecommendation[];
}

const MEANINGS = [...FACTS, SHARED_HARM];

/** What a manager's agent answers that recognises every wording. */
export function groupByMeaning({ ledger, recommendations }: Question): GroupingAnswer {
  const groups = new Map<string, number[]>();
  for (const [index, { text }] of inOrder(recommendations).entries()) {
    const meaning = meaningOf(text);
    groups.set(meaning, [...(groups.get(meaning) ?? []), index + 1]);
  }
  const lessons = [...groups].map(([text, from]) => {
    const known = ledger.lessons.find((lesson) => meaningOf(lesson.text) === text);
    return { text, from, same_as: known?.id ?? null, after: null };
  });
  return { lessons, summary: 'grouped by meaning' };
}

function meaningOf(text: string): string {
  return MEANINGS.find((wordings) => wordings.includes(text))?.[0] ?? text;
}
