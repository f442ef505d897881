import type { NextCommand } from '../core/schedule/run-request.ts';
import { isAll, type Share } from '../core/schedule/scope-share.ts';
import { count } from '../core/text/count.ts';
import type { ResultsPlace } from '../core/workspace/results.ts';
import { resultsLines } from './kept-workspaces.ts';
import { nextLine } from './next-line.ts';
import { rowList, share } from './plain.ts';

interface DryRunPlan {
  readonly shift: string;
  readonly items: Share;
  readonly eligible: number;
  readonly atQa: number;
  readonly inProgress: number;
  readonly adoptable: number;
  readonly first: { readonly task: string; readonly indices: readonly number[] } | undefined;
  readonly usedUp: string | null;
  readonly results: ResultsPlace | null;
}

interface Shown {
  readonly plan: DryRunPlan;
  readonly limitTexts: readonly string[];
  readonly next: NextCommand;
}

/** `stopped`: the exit code of a run that ends at a limit. */
export function dryRunLines({ plan, limitTexts, next }: Shown, stopped: number): string[] {
  const { shift, items, eligible, atQa, inProgress, adoptable, first, usedUp, results } = plan;
  const lines: string[] = [];
  if (!isAll(items)) lines.push(`${share(items, 'item')} chosen`);
  lines.push(...resultsLines(shift, results));
  if (limitTexts.length > 0) lines.push(`limits: ${limitTexts.join(', ')}`);
  if (adoptable > 0) lines.push(`would adopt ${count(adoptable, 'item')} that workers may still be running`);
  else if (inProgress > 0) lines.push(`${count(inProgress, 'item')} in progress would go back to todo first`);
  if (usedUp !== null) {
    lines.push(`nothing would start, and the exit code would be ${stopped}: ${usedUp}; ${nextLine(next)}`);
  } else {
    if (atQa > 0) lines.push(`${count(atQa, 'item')} at qa would be judged first`);
    lines.push(`${count(eligible, 'item-task')} can be dispatched now`);
    if (first) lines.push(`first: ${first.task}, ${rowList(first.indices)}`);
  }
  return [...lines, 'Nothing was written and no agent was started.'];
}
