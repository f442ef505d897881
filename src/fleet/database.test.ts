import { expect, test } from 'vitest';
import { describeServer } from '../../test/kit/postgres.ts';
import { FleetDatabase, untilAnswered } from './database.ts';

describeServer('the database of a fleet', (postgres) => {
  const open = () => new FleetDatabase({ url: postgres.url, isInsecure: false });

  test('a failed transaction in one text does not fail the statements after it', async () => {
    await using database = open();
    await expect(database.query('begin; select 1 / 0; commit')).rejects.toMatchObject({ code: '22012' });
    expect((await database.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  });

  test('coordinators that start at the same time on an empty database create it together', async () => {
    const databases = [open(), open(), open()];
    const { signal } = new AbortController();
    await Promise.all(databases.map((database) => untilAnswered(() => database.install(), { signal })));
    for (const database of databases) {
      expect((await database.query('select 1 from nightshift.shift')).rows).toEqual([]);
      await database[Symbol.asyncDispose]();
    }
  });

  test('a worker reports that the schema is from another version', async () => {
    await using database = open();
    await database.install();
    await database.query('update nightshift.version set version = version - 1');
    await expect(database.join()).rejects.toThrow('from another version of Nightshift');
  });
});
