import type { GroupingAnswer } from '../../src/core/learning/grouping.ts';
import { FACTS, SHARED_HARM } from './sentences.ts';

const MEANINGS = [...FACTS, SHARED_HARM];

/** What a manager's agent answers that recognises every wording. The recommendations are numbered in this order. */
export function groupByMeaning(
  recommendations: readonly { readonly text: string }[],
  lessons: readonly { readonly id: string; readonly text: string }[],
): GroupingAnswer {
  const groups = new Map<string, number[]>();
  for (const [index, { text }] of recommendations.entries()) {
    const meaning = meaningOf(text);
    groups.set(meaning, [...(groups.get(meaning) ?? []), index + 1]);
  }
  const grouped = [...groups].map(([text, from]) => {
    const known = lessons.find((lesson) => meaningOf(lesson.text) === text);
    return { text, from, same_as: known?.id ?? null, after: null };
  });
  return { lessons: grouped, summary: 'grouped by meaning' };
}

function meaningOf(text: string): string {
  return MEANINGS.find((wordings) => wordings.includes(text))?.[0] ?? text;
}
