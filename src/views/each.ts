import type { EachPlan } from '../app/each/each-plan.ts';
import { dollars } from '../core/schedule/budget.ts';
import { count } from '../core/text/count.ts';

/** Three lines: where it is, what the rows are, and who works on them at what price. `folder`: as the user sees it. */
export function eachLines(plan: EachPlan, folder: string): string[] {
  return [`${folder}: ${stateOf(plan)}`, `${rowsOf(plan)}; ${judgedBy(plan)}`, `${workersOf(plan)}; ${priceOf(plan)}`];
}

function stateOf({ isNew, isRewritten, failed, paths }: EachPlan): string {
  if (isNew) return 'a new shift with manager.md, table.csv and do.md';
  if (!isRewritten) return 'resumed';
  const replaced = 'resumed; do.md was replaced, because no row is done yet';
  if (failed === 0) return replaced;
  return `${replaced}; \`nightshift retry ${paths.name}\` uses it for the ${count(failed, 'failed row')}`;
}

function rowsOf({ isNew, rows, added, columns, leftOut }: EachPlan): string {
  const grown = isNew || added === 0 ? '' : `, ${added} of them new`;
  const shown = columns.slice(0, COLUMNS_SHOWN).join(', ');
  const more = columns.length > COLUMNS_SHOWN ? ` and ${columns.length - COLUMNS_SHOWN} more` : '';
  const results = leftOut === 0 ? '' : `; ${count(leftOut, 'file')} left out: results of other rows`;
  return `${count(rows, 'row')}${grown} (${shown}${more})${results}`;
}

const COLUMNS_SHOWN = 8;

function judgedBy({ request: { checks, isScript, outputs } }: EachPlan): string {
  const judged = checks.length > 0 ? count(checks.length, 'check') : isScript ? 'no check' : 'a qa judges each';
  return outputs.length === 0 ? judged : `${judged}; fills ${outputs.join(', ')}`;
}

function workersOf({ agent, model, atOnce }: EachPlan): string {
  const pace =
    atOnce === 1 ? 'one row at a time' : Number.isFinite(atOnce) ? `up to ${atOnce} rows at a time` : 'in batches';
  return `agent ${agent}${model === undefined ? '' : ` (${model})`}, ${pace}`;
}

function priceOf({ limits, hasModel }: EachPlan): string {
  const cost = limits['max-cost'];
  if (typeof cost === 'number') return `it may spend ${dollars(cost)}`;
  return hasModel ? 'no limit on cost' : 'without a model';
}
