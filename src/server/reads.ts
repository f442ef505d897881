import type { ItemName, Page, SessionName } from '../app/page/page.ts';
import { NightshiftError } from '../core/model/errors.ts';
import { readRowQuery } from '../core/page/row-query.ts';
import type { Query } from './query.ts';

/** Answers a `GET`. `signal`: the client is gone. */
type Read = (page: Page, query: Query, signal: AbortSignal) => Promise<unknown>;

const MOST_ROWS = 1000;

/** Every request that only reads, by its path; `core/page` describes the answers. */
export const READS: ReadonlyMap<string, Read> = new Map<string, Read>([
  ['/api/shift', (page, query) => page.shift(query.shift)],
  [
    '/api/rows',
    (page, query) => {
      const span = { from: query.number('from'), count: Math.min(query.number('count'), MOST_ROWS) };
      return page.rows(query.shift, readRowQuery(query.params), span);
    },
  ],
  ['/api/item', (page, query) => page.item(query.shift, itemIn(query))],
  ['/api/diff', (page, query) => page.diff(query.shift, itemIn(query))],
  [
    '/api/transcript',
    (page, query) => {
      if (query.has('from')) return page.transcript(query.shift, sessionIn(query), { from: query.number('from') });
      if (!query.has('before')) return page.transcript(query.shift, sessionIn(query));
      return page.transcript(query.shift, sessionIn(query), { before: query.number('before') });
    },
  ],
  ['/api/entry', (page, query) => page.entry(query.shift, sessionIn(query), query.number('offset'))],
  ['/api/find', (page, query, signal) => page.find(query.shift, sessionIn(query), query.text('text'), signal)],
  ['/api/steps', (page, query) => page.steps(query.shift, query.text('task'))],
  [
    '/api/steps-diff',
    (page, query) => {
      const versions = { from: query.number('from'), to: query.number('to') };
      return page.stepsDiff(query.shift, query.text('task'), versions);
    },
  ],
  ['/api/charts', (page, query) => page.charts(query.shift)],
  [
    '/api/journal',
    (page, query) => {
      const names = ['type', 'task', 'item', 'before'] as const;
      const [type, task, item, before] = names.map((name) => query.optional(name));
      return page.journal(query.shift, { type, task, item, before });
    },
  ],
]);

function itemIn(query: Query): ItemName {
  return query.has('item') ? { item: query.text('item') } : { row: query.text('row') };
}

function sessionIn(query: Query): SessionName {
  const role = query.text('role');
  if (role !== 'dev' && role !== 'qa') throw new NightshiftError('usage', `a role is dev or qa, not ${role}`);
  return { task: query.text('task'), item: query.text('item'), role };
}
