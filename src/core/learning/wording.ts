import type { Recommendation } from '../model/events.ts';
import { compare, normalise } from '../text/likeness.ts';

/** A lesson is one paragraph without a number: Steps are numbered, so models answer with numbers. */
export function asLesson(text: string): string {
  return text
    .trim()
    .replace(/\s+/g, ' ')
    .replace(/^\d+[.)] /, '');
}

/** Groups what says the same. */
export function cluster<T extends Recommendation>(recommendations: readonly T[]): T[][] {
  const groups: T[][] = [];
  for (const recommendation of recommendations) {
    if (normalise(recommendation.text) === '') continue;
    const group = groups.find(([first]) => compare(first!.text, recommendation.text) === 'same');
    if (group === undefined) groups.push([recommendation]);
    else group.push(recommendation);
  }
  return groups;
}

/** The most frequent wording, then the shortest. The order of the recommendations does not matter. */
export function plainest(group: readonly Recommendation[]): string {
  const votes = new Map<string, number>();
  for (const { text } of group) votes.set(normalise(text), (votes.get(normalise(text)) ?? 0) + 1);
  const vote = (text: string) => votes.get(normalise(text))!;
  const texts = group.map(({ text }) => asLesson(text)).sort();
  return texts.sort((a, b) => vote(b) - vote(a) || a.length - b.length)[0]!;
}

/** Whether one of the steps, or one of its sentences, says it already. */
export function isCovered(text: string, steps: readonly string[]): boolean {
  return steps.some((step) => ` ${normalise(step)} `.includes(` ${normalise(text)} `) || says(step, text, 'same'));
}

/** The number of the first step that contradicts it. */
export function contradictedStep(text: string, steps: readonly string[]): number | undefined {
  const index = steps.findIndex((step) => says(step, text, 'contrary'));
  return index === -1 ? undefined : index + 1;
}

function says(step: string, text: string, what: 'same' | 'contrary'): boolean {
  return [step, ...step.split(/\n|(?<=[.;!?])\s/)].some((part) => compare(part, text) === what);
}
