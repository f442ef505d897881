import { appendFileSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TranscriptEntryAnswer } from '../../src/core/page/answers.ts';
import { ROW_FILTERS } from '../../src/core/page/row-query.ts';
import { Project, type ShiftHandle, shellTask } from '../harness.ts';
import { ALL, eventually, pageOf, rowsOf } from '../kit/page-of-project.ts';

const SECRET = 'hunter2-is-not-enough';

/** Six rows: two fail in `write` for the same reason, one in `check`; one was never tried. */
async function night(): Promise<{ project: Project; shift: ShiftHandle }> {
  const project = new Project();
  const fail =
    'case {name} in bee|dog) echo "no file {name}.html" >&2; exit 1;; esac; echo "words=7" >> "$NIGHTSHIFT_OUTPUT"';
  const shift = project.shift('night', {
    settings: { attempts: 1, agent: 'shell', parallel: true, 'current-batch-size': 9 },
    table:
      `name,note,words,write,check\nant,Zebra,,todo,todo\nbee,apple,,todo,todo\ncat,${SECRET},,todo,todo\n` +
      'dog,Mango,,todo,todo\neel,banana,,todo,todo\nfox,,,todo,todo\n',
    tasks: { write: shellTask(fail, 'true', '- outputs: words'), check: shellTask('test {name} != eel') },
    env: `TOKEN=${SECRET}\n`,
  });
  expect((await shift.start(['--rows', '1:5'])).code).toBe(3);
  return { project, shift };
}

describe('what the page reads', () => {
  test('X8 it has the numbers of `status`, for a shift and in the list of shifts', async () => {
    const { project } = await night();
    const status = JSON.parse((await project.run(['status', 'night', '--json'])).stdout);
    const page = pageOf(project);
    const answer = await page.shift('night');
    expect({ ...answer.status, failures: undefined }).toEqual({ ...status, failures: undefined });
    expect(answer.groups.map(({ task, items, rows }) => [task, items, rows])).toEqual([
      ['write', 2, [2, 4]],
      ['check', 1, [5]],
    ]);
    expect(answer.groups.map(({ reason }) => reason)).toEqual(
      status.failures.map(({ reason }: { reason: string }) => reason),
    );
    expect(answer.columns).toEqual({
      ...{ tasks: ['write', 'check'], metadata: ['name', 'note'], outputs: ['words'], label: 'name' },
    });
    const [card] = (await page.project()).shifts;
    expect(card).toMatchObject({
      id: 'night',
      counts: status.counts,
      usage: status.usage,
      lastReason: status.lastRun.end.reason,
    });
  });

  test('X8 rows are filtered, searched, grouped and sorted, and answered in windows', async () => {
    const { project } = await night();
    const page = pageOf(project);
    const rows = (query: Partial<typeof ALL>) => rowsOf(page, 'night', query);
    expect(await rows({ status: ['failed'] })).toEqual([2, 4, 5]);
    expect(await rows({ status: ['failed'], task: 'check' })).toEqual([5]);
    expect(await rows({ status: ['blocked'] })).toEqual([2, 4]);
    expect(await rows({ status: ['todo', 'done'], task: 'check' })).toEqual([1, 2, 3, 4, 6]);
    expect(await rows({ search: 'ZEBRA' })).toEqual([1]);
    expect(await rows({ search: 'No file DOG' })).toEqual([4]);
    expect(await rows({ search: 'todo' })).toEqual([]);
    const { groups, rowCounts } = await page.shift('night');
    // Each filter says how many rows it finds.
    for (const status of ROW_FILTERS) {
      expect(rowCounts.all[status]).toBe((await rows({ status: [status] })).length);
      expect(rowCounts.tasks[1]![status]).toBe((await rows({ status: [status], task: 'check' })).length);
    }
    expect(await rows({ group: groups[0]!.id })).toEqual([2, 4]);
    expect(await rows({ group: groups[0]!.id, search: 'mango', status: ['failed'] })).toEqual([4]);
    expect(await rows({ group: 'gone' })).toEqual([]);
    expect(await rows({ sort: { by: 'column', column: 'note' } })).toEqual([2, 5, 3, 4, 1, 6]);
    expect(await rows({ sort: { by: 'column', column: 'note' }, isDescending: true })).toEqual([1, 4, 3, 5, 2, 6]);
    expect(await rows({ sort: { by: 'column', column: 'gone' }, isDescending: true })).toEqual([6, 5, 4, 3, 2, 1]);
    expect((await rows({ sort: { by: 'ms' } })).at(-1)).toBe(6);
    const query = { ...ALL, columns: ['note', 'gone', 'words'] };
    const part = await page.rows('night', query, { from: 2, count: 2 });
    expect(part).toMatchObject({ total: 6, matching: 6, from: 2 });
    // A cell may hold a secret, which is never shown.
    expect(part.rows.map(({ row, label, cells }) => [row, label, cells])).toEqual([
      [3, 'cat', ['[TOKEN]', '7']],
      [4, 'dog', ['Mango', '']],
    ]);
    expect(part.rows[1]!.tasks).toEqual([
      { status: 'failed', attempts: 1, reason: expect.stringContaining('no file dog.html') },
      { status: 'todo', attempts: 0, isBlocked: true },
    ]);
    expect((await page.rows('night', ALL, { from: 99, count: 9 })).rows).toEqual([]);
    expect(JSON.stringify([part, await page.item('night', { row: 'cat' })])).not.toContain(SECRET);
  });

  test('X8 an item has its cells, attempts, verdicts, times and the version of the Steps that it got', async () => {
    const { project } = await night();
    const page = pageOf(project);
    const item = await page.item('night', { row: '2' });
    const shown = JSON.parse((await project.run(['show', 'night', '2', '--json'])).stdout);
    expect(await page.item('night', { item: item.item })).toEqual(item);
    expect(item).toMatchObject({ row: 2, label: 'bee', item: shown.item, metadata: shown.metadata });
    expect(item.tasks[0]).toMatchObject({
      ...{ status: 'failed', key: shown.tasks[0].key, failure: shown.tasks[0].failure, stepsVersion: 1 },
      attempts: shown.tasks[0].attempts,
    });
    expect(Object.keys(item.tasks[0]!.transcripts)).toEqual(['dev']);
    expect((await page.item('night', { row: '1' })).tasks[0]!.verdicts).toMatchObject([
      { status: 'PASS', checked: true },
    ]);
    await expect(page.item('night', { item: 'gone.0' })).rejects.toMatchObject({ code: 'not-found' });
    await expect(page.item('night', { row: '99' })).rejects.toMatchObject({ code: 'usage' });
    const steps = await page.steps('night', 'write');
    expect(steps.versions).toMatchObject([{ number: 1, isCurrent: true }]);
    expect((await page.stepsDiff('night', 'write', { from: 0, to: 1 })).lines).toContain('+1. Do it');
    await expect(page.stepsDiff('night', 'write', { from: 1, to: 7 })).rejects.toMatchObject({ code: 'not-found' });
  });

  test('X8 charts have the course of the run, the time of each item, and what was spent', async () => {
    const { project } = await night();
    const page = pageOf(project);
    const charts = await eventually(async () => {
      const answer = await page.charts('night');
      return answer.isPartial ? undefined : answer;
    });
    expect(charts.runs).toHaveLength(1);
    expect(charts.burnDown.at(-1)).toMatchObject({ left: 0, failed: 3 });
    expect(charts.items.map(({ row, task, status }) => `${row} ${task} ${status}`)).toEqual([
      ...['1 write done', '1 check done', '2 write failed', '3 write done', '3 check done', '4 write failed'],
      ...['5 write done', '5 check failed'],
    ]);
    expect(charts.itemsLeftOut).toBe(0);
    expect(charts.firstAttempts).toEqual([
      { task: 'write', tenths: null },
      { task: 'check', tenths: null },
    ]);
  });

  test('X8 an archived shift is read like any other', async () => {
    const { project } = await night();
    const before = pageOf(project);
    const live = await before.shift('night');
    const item = await before.item('night', { row: '2' });
    await project.run(['archive', 'night', '--force']);
    await expect(before.shift('night')).rejects.toMatchObject({ code: 'not-found' });
    const page = pageOf(project);
    const [card] = (await page.project()).shifts;
    expect(card).toMatchObject({ name: 'night', isArchived: true, counts: live.status.counts });
    expect(card!.id).toMatch(/^archive\/\d{4}-\d\d-\d\d-night$/);
    expect(await page.shift(card!.id)).toMatchObject({ isArchived: true, groups: live.groups });
    // With the same keys, so that what was said is found.
    expect(await page.item(card!.id, { row: '2' })).toEqual(item);
    const said = await page.transcript(card!.id, { task: 'write', item: item.item, role: 'dev' });
    expect(said.entries.map(({ line }) => ('text' in line ? line.text : '')).join('\n')).toContain('no file bee.html');
    const edit = { verb: 'edit', item: item.item, column: 'note', was: 'apple', value: 'x' } as const;
    await expect(page.act({ shift: card!.id, action: edit })).rejects.toThrow('night is archived');
    for (const id of ['archive/..', 'archive/2026-01-01-gone', '../night', 'archive/2026-01-01-night/..']) {
      await expect(page.shift(id)).rejects.toMatchObject({ code: expect.stringMatching(/not-found|bad-name/) });
    }
  });

  test('X8 R10 files that are broken or gone are an answer, and the next version is read again', async () => {
    const { project, shift } = await night();
    project.shift('other', {
      table: 'name,work\na,todo\n',
      tasks: { work: shellTask('true') },
      settings: { agent: 'shell' },
    });
    const page = pageOf(project);
    await page.shift('night');
    const [table, manager] = [shift.tableText, shift.manager];
    const problem = () =>
      eventually(async () => {
        const { shifts } = await page.project();
        return shifts.find(({ id }) => id === 'night')?.problem;
      });
    shift.tableText = `${table}"half a`;
    expect(await problem()).toContain('never closed');
    await eventually(() =>
      page.shift('night').then(
        () => false,
        ({ code }) => code === 'bad-table',
      ),
    );
    shift.tableText = table;
    await eventually(() =>
      page.shift('night').then(
        () => true,
        () => false,
      ),
    );
    shift.manager = 'nothing';
    await eventually(() =>
      page.rows('night', ALL, { from: 0, count: 1 }).then(
        () => false,
        ({ code }) => code === 'bad-manager',
      ),
    );
    shift.manager = manager;
    await eventually(() =>
      page.shift('night').then(
        () => true,
        () => false,
      ),
    );
    expect((await page.project()).shifts.map(({ id }) => id).sort()).toEqual(['night', 'other']);
    rmSync(project.path('.nightshift/night'), { recursive: true });
    await expect(page.shift('night')).rejects.toMatchObject({ code: 'not-found' });
    await expect(page.journal('night', {})).rejects.toMatchObject({ code: 'not-found' });
    expect((await page.project()).shifts.map(({ id }) => id)).toEqual(['other']);
  });
});

describe('a transcript', () => {
  test('X8 S13 is read by range in both directions, searched, and cut where an entry is long', async () => {
    const { project } = await night();
    const page = pageOf(project);
    const { item, tasks } = await page.item('night', { row: '1' });
    const session = { task: 'write', item, role: 'qa' } as const;
    expect(await page.transcript('night', session)).toEqual({ from: 0, to: 0, size: 0, entries: [] });
    const file = project.path(`.nightshift/night/.engine/transcripts/write/${tasks[0]!.key}-qa.jsonl`);
    mkdirSync(dirname(file), { recursive: true });
    const line = (text: string) =>
      `${JSON.stringify({ at: '2026-01-01T00:00:00Z', role: 'qa', kind: 'text', text })}\n`;
    const texts = Array.from({ length: 3000 }, (_, i) => `entry ${i} ${'x'.repeat(i % 7 === 0 ? 2000 : 20)}`);
    texts[1500] = `a NEEDLE ${'y'.repeat(50_000)}`;
    writeFileSync(file, `${texts.map(line).join('')}not json\n{"half`);

    const textsOf = (entries: readonly TranscriptEntryAnswer[]) =>
      entries.map((each) => ('text' in each.line ? each.line.text : ''));
    const [forwards, backwards]: [string[], string[]] = [[], []];
    for (let from = 0, to = -1; to !== from; ) {
      from = Math.max(0, to);
      const part = await page.transcript('night', session, { from });
      forwards.push(...textsOf(part.entries));
      to = part.to;
    }
    for (let before = Number.MAX_SAFE_INTEGER; before > 0; ) {
      const part = await page.transcript('night', session, { before });
      backwards.unshift(...textsOf(part.entries));
      before = part.from;
    }
    const shown = texts.map((text) => text.slice(0, 20_000));
    expect(forwards).toEqual(shown);
    expect(backwards).toEqual(shown);
    const end = await page.transcript('night', session);
    expect(textsOf(end.entries).at(-1)).toBe(texts.at(-1));
    expect(end.to).toBeLessThan(end.size);

    const { offsets } = await page.find('night', session, 'needle');
    expect(offsets).toHaveLength(1);
    const [found] = (await page.transcript('night', session, { from: offsets[0]! })).entries;
    expect(found).toMatchObject({ offset: offsets[0], cut: texts[1500]!.length - 20_000 });
    expect(textsOf([await page.entry('night', session, offsets[0]!)])).toEqual([texts[1500]]);
    await expect(page.entry('night', session, offsets[0]! + 1)).rejects.toMatchObject({ code: 'not-found' });
    expect(await page.find('night', session, 'ENTRY')).toMatchObject({ isCut: true, offsets: { length: 500 } });
    expect(await page.find('night', session, 'entry', AbortSignal.abort())).toEqual({ offsets: [], isCut: true });

    // What is said next continues where the last part ended.
    appendFileSync(file, `":1}\n${line('more')}`);
    expect(textsOf((await page.transcript('night', session, { from: end.to })).entries)).toEqual(['more']);
    await expect(page.transcript('night', { ...session, task: '../x' })).rejects.toMatchObject({ code: 'not-found' });
    expect((await page.transcript('night', { ...session, item: '../../x' })).size).toBe(0);
  });
});
