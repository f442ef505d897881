import type { Mask } from '../text/mask.ts';

/**
 * Fields with text from agents and checks. Names of tasks, keys and statuses are not masked, or nothing would find
 * them.
 */
const WORDS = [
  ...['reason', 'trouble', 'verdicts', 'captured', 'recommendations', 'outputs', 'changed'],
  ...['message', 'entry', 'votes', 'proposal'],
];

/** An outcome or an event with the secrets in its texts masked. */
export function masked<T extends object>(mask: Mask, json: T): T {
  const entries = Object.entries(json).map(([name, value]) => [name, WORDS.includes(name) ? mask.deep(value) : value]);
  return Object.fromEntries(entries) as T;
}
