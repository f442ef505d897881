import type { RowChoice } from '../../../src/core/page/action.ts';
import type { RowQuery } from '../../../src/core/page/row-query.ts';

/** Rows that an action is meant for: some by identity, or all that match the filters. */
export type Selection = ReadonlySet<string> | 'matching';

export const NOTHING: Selection = new Set<string>();

export function toggled(selection: Selection, item: string): Selection {
  const items = new Set(selection === 'matching' ? [] : selection);
  if (!items.delete(item)) items.add(item);
  return items;
}

export function isSelected(selection: Selection, item: string | undefined): boolean {
  return selection === 'matching' || (item !== undefined && selection.has(item));
}

export function isEmpty(selection: Selection): boolean {
  return selection !== 'matching' && selection.size === 0;
}

export function choiceOf(selection: Selection, query: RowQuery): RowChoice {
  return selection === 'matching' ? { matching: query } : { items: [...selection] };
}
