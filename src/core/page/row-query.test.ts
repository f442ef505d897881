import { describe, expect, test } from 'vitest';
import { type RowQuery, readRowQuery, writeRowQuery } from './row-query.ts';

const PLAIN: RowQuery = { status: [], isDescending: false, columns: [] };

describe('the query of a grid is the address of the page', () => {
  test.each<RowQuery>([
    PLAIN,
    { ...PLAIN, status: ['failed', 'blocked'], task: 'write', group: 'g1' },
    { ...PLAIN, search: 'a & b = "c" # 100%', sort: { by: 'cost' }, isDescending: true },
    { ...PLAIN, sort: { by: 'column', column: 'column:row' }, columns: ['topic', 'a,b', 'topic'] },
  ])('X8 %j is read as it was written', (query) => {
    expect(readRowQuery(new URLSearchParams(writeRowQuery(query).toString()))).toEqual(query);
  });

  test('X8 what it does not know is left out', () => {
    const address = 'status=failed&status=gone&sort=beauty&order=up&search=&task=&utm=1';
    expect(readRowQuery(new URLSearchParams(address))).toEqual({ ...PLAIN, status: ['failed'] });
  });
});
