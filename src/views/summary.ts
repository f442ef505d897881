import type { PutBackEdit } from '../core/folds/put-back-edits.ts';
import type { FailureGroup, Summary } from '../core/folds/summary.ts';
import type { Usage } from '../core/model/model.ts';
import { STATUSES } from '../core/model/status.ts';
import { count } from '../core/text/count.ts';
import { oneLine, printable } from '../core/text/printable.ts';
import { rowList } from './plain.ts';
import { labelText, rowName, workerText } from './row-name.ts';

const ROWS_SHOWN = 20;

/** The state of a shift, for `status` and the end of `start`. */
export function summaryLines(shift: string, { counts, tasks, failures }: Summary): string[] {
  const { total, completed, failed, remaining } = counts;
  const width = Math.max(...tasks.map(({ task }) => task.length), 0);
  return [
    `${shift}: ${count(total, 'item')}, ${completed} completed, ${failed} failed, ${remaining} remaining`,
    ...tasks.map(({ task, counts: cells }) => {
      const shown = STATUSES.filter((status) => cells[status] > 0).map((status) => `${cells[status]} ${status}`);
      return `  ${task.padEnd(width)}  ${shown.join(', ') || 'no rows'}`;
    }),
    ...failures.flatMap(failureLines),
  ];
}

/** The reason in full, once for all rows that failed with it. */
export function failureLines({ task, reason, items }: FailureGroup): string[] {
  const most = items.reduce((max, { attempts }) => Math.max(max, attempts), 0);
  const tries = most > 0 ? ` after ${count(most, 'attempt')}` : '';
  return [
    `failed: ${task}, ${groupName(items)}${tries}`,
    ...printable(reason)
      .trim()
      .split('\n')
      .map((line) => `  ${line}`),
    ...(items.length === 1 ? [] : [`  rows ${failedRows(items)}`]),
  ];
}

/** `row 7 nightjar`, or `3 rows`. */
export function groupName(items: FailureGroup['items']): string {
  return items.length === 1 ? rowName(items[0]!) : `${count(items.length, 'row')}${commonWorker(items)}`;
}

/** If all of them failed on one worker, that is said once. */
function commonWorker(items: FailureGroup['items']): string {
  const worker = items[0]?.worker;
  return items.every((item) => item.worker === worker) ? workerText(worker) : '';
}

/** `7 nightjar, 9 owl and 3 more`; in a fleet `7 nightjar on build-3`, unless all failed there. */
export function failedRows(items: FailureGroup['items']): string {
  const isCommon = commonWorker(items) !== '';
  const where = ({ worker }: { worker?: string }) => (isCommon ? '' : workerText(worker));
  const shown = items.slice(0, ROWS_SHOWN).map((item) => `${item.row}${labelText(item.label)}${where(item)}`);
  return `${shown.join(', ')}${items.length > ROWS_SHOWN ? ` and ${items.length - ROWS_SHOWN} more` : ''}`;
}

/** Edits that were reverted during a run, at its end. */
export function putBackLines(shift: string, edits: readonly PutBackEdit[]): string[] {
  if (edits.length === 0) return [];
  return [
    `reverted: ${count(edits.length, 'edit')} made while items were running`,
    ...edits.map(({ file, what, runningItems }) => {
      const rows = [...new Set(runningItems.map(({ index }) => index))].sort((a, b) => a - b);
      return `  ${oneLine(file)}${rows.length === 0 ? '' : ` (${rowList(rows)} running)`}: ${oneLine(what)}`;
    }),
    `  \`nightshift accept ${shift}\` shows the difference and applies it.`,
  ];
}

/** An unknown amount is not 0: what no agent has reported is left out. */
export function usageText(usage: Usage): string | undefined {
  const { inputTokens, outputTokens } = usage;
  const cost = costText(usage);
  const parts = [
    ...(inputTokens === undefined && outputTokens === undefined
      ? []
      : [`${inputTokens ?? 0} tokens in, ${outputTokens ?? 0} out`]),
    ...(cost === undefined ? [] : [cost]),
  ];
  return parts.length > 0 ? oneLine(parts.join(', ')) : undefined;
}

function costText({ costUsd, unpricedTokens = 0, unreadCosts = 0 }: Usage): string | undefined {
  const isUnknown = unpricedTokens > 0 || unreadCosts > 0;
  if (costUsd === undefined) return isUnknown ? 'cost unknown' : undefined;
  const known = `$${costUsd.toFixed(2)}`;
  if (!isUnknown) return known;
  return `${known} and an unknown cost for ${unpricedTokens > 0 ? `${unpricedTokens} tokens` : count(unreadCosts, 'answer')}`;
}
