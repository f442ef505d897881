import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Happening, TranscriptHappening } from '../core/model/events.ts';
import type { LeaseTerms } from '../core/model/lease.ts';
import { STATUSES, type Status } from '../core/model/status.ts';
import { editCells } from '../formats/table.ts';
import { shiftPaths } from './folder/layout.ts';
import { FolderStore } from './folder/table/folder-store.ts';
import { Identities } from './folder/table/identities.ts';
import { changeTable } from './folder/table/table-change.ts';
import { MemoryStore } from './memory/memory-store.ts';
import type { Row } from './memory/rows.ts';
import type { Claim, Snapshot, Store } from './store.ts';

/** Somebody beside the run: an editor that saves the whole table, and a person with a command. */
interface Outside {
  rows(): Row[];
  edit(change: (rows: Row[]) => Row[]): void;
  command(row: number, task: string, to: Status): void | Promise<void>;
}

interface Subject {
  store: Store;
  outside: Outside;
  events: (Happening | TranscriptHappening)[];
  /** Where there is a file: which, and how many times it was put in place. */
  table?: string;
  writes?: () => number;
}

type Rows = readonly Record<string, string>[];
const TASKS = ['draft', 'send'];
const OUTPUTS = new Map([['draft', ['url']]]);

function folderSubject(rows: Rows, onFailpoint: (name: string, table: string) => void = () => {}): Subject {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-store-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const paths = {
    ...shiftPaths(root, 'x'),
    folder: root,
    table: join(root, 'table.csv'),
    lock: join(root, 'table.csv.lock'),
  };
  const journal = join(root, 'journal.jsonl');
  const save = (all: Rows) => {
    const header = Object.keys(all[0]!);
    writeFileSync(paths.table, `${[header, ...all.map((row) => header.map((name) => row[name]))].join('\n')}\n`);
  };
  save(rows);
  let writes = 0;
  const events: Subject['events'] = [];
  const store = new FolderStore({
    ...{ table: paths.table, lock: paths.lock, journal, identity: join(root, 'identity.json'), tasks: TASKS },
    outputs: OUTPUTS,
    emit: (event) => events.push(event),
    failpoint: (name) => {
      if (name === 'table:renamed') writes++;
      onFailpoint(name, paths.table);
    },
  });
  const outside: Outside = {
    rows: () => parse(readFileSync(paths.table), { columns: true }),
    edit: (change) => save(change(outside.rows())),
    command: (row, task, to) =>
      changeTable(
        { ...paths, journal },
        (table) => {
          const column = table.columnOf(task);
          const item = new Identities(table, new Set([...TASKS, 'url'])).id(row);
          const edits = [{ item, column: task, from: table.cell(row, column), to }];
          return { table: editCells(table, [{ row, column, value: to }]), answer: undefined, edits };
        },
        Date.now,
        (name) => onFailpoint(name, paths.table),
      ),
  };
  return { store, outside, events, table: paths.table, writes: () => writes };
}

function memorySubject(rows: Rows): Subject {
  const events: Subject['events'] = [];
  const store = new MemoryStore({ rows, tasks: TASKS, outputs: OUTPUTS, emit: (event) => events.push(event) });
  return { store, outside: store, events };
}

/** Rows named a, b, c ..., with these statuses of `draft`. */
function items(...draft: Status[]): Rows {
  return draft.map((status, i) => ({
    name: String.fromCharCode(97 + i),
    city: `${i}${i}`,
    draft: status,
    send: 'todo',
    url: '',
  }));
}

const statuses = (snapshot: Snapshot, task = 'draft') =>
  [...snapshot.columns[snapshot.tasks.indexOf(task)]!].map((code) => STATUSES[code]);
const ids = (snapshot: Snapshot) => Array.from({ length: snapshot.count }, (_, row) => snapshot.id(row));
const terms = (owner = 'run-1', now = 0): LeaseTerms => ({ owner, now, expiresAt: now + 100 });
const claimAll = async (store: Store): Promise<Claim[]> => store.claim('draft', ids(await store.snapshot()), terms());
const kinds = async (store: Store) => (await store.changes()).map(({ kind }) => kind);
/** The table as another program reads it: name and statuses. */
const seen = ({ outside }: Subject) => outside.rows().map((row) => `${row.name} ${row.draft} ${row.send}`);

describe.each([
  ['the folder store', folderSubject],
  ['its twin in memory', memorySubject],
])('%s', (_, open) => {
  describe('snapshot', () => {
    test('holds what is recorded, and does not change afterwards', async () => {
      const { store } = open(items('todo', 'done', 'qa'));
      const before = await store.snapshot();
      expect(before).toMatchObject({ count: 3, tasks: TASKS, header: ['name', 'city', 'draft', 'send', 'url'] });
      expect(statuses(before)).toEqual(['todo', 'done', 'qa']);
      expect(before.metadata(1)).toEqual({ name: 'b', city: '11', url: '' });
      expect([before.cell(1, 'city'), before.cell(2, 'draft'), before.cell(0, 'url')]).toEqual(['11', 'qa', '']);
      expect(new Set(ids(before)).size).toBe(3);
      expect(ids(before).map((id) => before.rowOf(id))).toEqual([0, 1, 2]);
      expect(before.rowOf('nobody')).toBeUndefined();
      await claimAll(store);
      expect(statuses(before)).toEqual(['todo', 'done', 'qa']);
      expect(statuses(await store.snapshot())).toEqual(['in_progress', 'done', 'qa']);
    });

    test('T7 knows an item again after rows were edited, inserted, sorted and removed, also among equal rows', async () => {
      const { store, outside } = open([...items('todo', 'done', 'failed', 'todo'), ...items('todo')]);
      const [a, b, c, d, twin] = ids(await store.snapshot()) as [string, string, string, string, string];
      expect(twin).not.toBe(a);
      outside.edit((rows) => rows.map((row) => (row.name === 'c' ? { ...row, city: 'elsewhere' } : row)));
      expect((await store.snapshot()).rowOf(c)).toBe(2);
      outside.edit((rows) => [{ ...items('todo')[0]!, name: 'new' }, ...rows]);
      expect(ids(await store.snapshot()).slice(1)).toEqual([a, b, c, d, twin]);
      outside.edit((rows) => rows.toReversed());
      const sorted = await store.snapshot();
      expect([b, c, d].map((id) => sorted.metadata(sorted.rowOf(id)!).name)).toEqual(['b', 'c', 'd']);
      expect([a, twin].map((id) => sorted.metadata(sorted.rowOf(id)!).name)).toEqual(['a', 'a']);
      outside.edit((rows) => rows.filter((row) => row.name !== 'b'));
      const removed = await store.snapshot();
      expect([removed.rowOf(b), removed.metadata(removed.rowOf(c)!).name]).toEqual([undefined, 'c']);
    });
  });

  describe('claim', () => {
    test('T2 takes what is todo to in_progress, gives what is at qa a token, and leaves the others out', async () => {
      const subject = open(items('todo', 'in_progress', 'qa', 'done', 'failed', 'todo'));
      const { store } = subject;
      const all = ids(await store.snapshot());
      const claims = await store.claim('draft', ['nobody', ...all], terms());
      expect(claims.map(({ id, task, row, status }) => ({ id, task, row, status }))).toEqual([
        { id: all[0], task: 'draft', row: 0, status: 'in_progress' },
        { id: all[2], task: 'draft', row: 2, status: 'qa' },
        { id: all[5], task: 'draft', row: 5, status: 'in_progress' },
      ]);
      expect(new Set(claims.map(({ token }) => token)).size).toBe(3);
      expect(seen(subject).map((line) => line.split(' ')[1])).toEqual([
        ...['in_progress', 'in_progress', 'qa', 'done', 'failed', 'in_progress'],
      ]);
      expect(await store.claim('draft', all, terms())).toEqual([]);
      await expect(store.claim('nothing', all, terms())).rejects.toMatchObject({ code: 'not-found' });
    });

    test('leaves out what somebody took away meanwhile', async () => {
      const { store, outside } = open(items('todo', 'todo', 'todo'));
      const all = ids(await store.snapshot());
      outside.edit(([a, b]) => [a!, { ...b!, draft: 'failed' }]);
      expect((await store.claim('draft', all, terms())).map(({ id }) => id)).toEqual([all[0]]);
    });
  });

  describe('leases', () => {
    test('T5 T8 have an owner and an expiry; another owner takes an item when its lease is over, and not before', async () => {
      const subject = open(items('todo', 'qa', 'done'));
      const { store } = subject;
      const all = ids(await store.snapshot());
      const [first, judged] = (await store.claim('draft', all, terms('run-1', 0))) as [Claim, Claim];
      expect(await store.leases()).toEqual(
        [first, judged].map(({ id, token }) => ({ id, task: 'draft', token, owner: 'run-1', expiresAt: 100 })),
      );
      expect(await store.giveBackStale(99)).toBe(0);
      expect(await store.claim('draft', all, terms('run-2', 99))).toEqual([]);

      expect(await store.giveBackStale(100)).toBe(1);
      expect(statuses(await store.snapshot())).toEqual(['todo', 'qa', 'done']);
      const taken = await store.claim('draft', all, terms('run-2', 100));
      expect(taken.map(({ id, owner }) => [id, owner])).toEqual([
        [first.id, 'run-2'],
        [judged.id, 'run-2'],
      ]);
      expect((await store.changes()).map((change) => change.kind === 'withdrawn' && change.token)).toEqual([
        first.token,
        judged.token,
      ]);
      // The first owner comes back late.
      const before = subject.outside.rows();
      expect(await store.record(first.token, 'in_progress', 'qa', { url: 'late' })).toMatchObject({ ok: false });
      expect(await store.record(judged.token, 'qa', 'done')).toMatchObject({ ok: false });
      expect(await store.release(first.token, 'late')).toMatchObject({ ok: false });
      expect(await store.renew([first.token, judged.token], 999)).toEqual([first.token, judged.token]);
      expect(subject.outside.rows()).toEqual(before);
      expect((await store.leases()).map(({ owner, expiresAt }) => [owner, expiresAt])).toEqual([
        ['run-2', 200],
        ['run-2', 200],
      ]);
    });

    test('T8 are renewed by token; until another owner takes the item, a lease that is over still writes', async () => {
      const { store, outside } = open(items('todo', 'todo'));
      const [a, b] = (await claimAll(store)) as [Claim, Claim];
      expect(await store.renew([a.token, 'made up'], 300)).toEqual(['made up']);
      expect(await store.giveBackStale(299)).toBe(1);
      expect(outside.rows().map(({ draft }) => draft)).toEqual(['in_progress', 'todo']);
      expect(await store.record(b.token, 'in_progress', 'qa')).toMatchObject({ ok: false });
      expect(await store.record(a.token, 'in_progress', 'qa')).toEqual({ ok: true });
      expect(await store.record(a.token, 'qa', 'done')).toEqual({ ok: true });
      expect(await store.leases()).toEqual([]);
      expect(await store.renew([a.token], 400)).toEqual([a.token]);
    });

    test('T5 an item in progress without a lease is stale', async () => {
      const { store, outside } = open(items('in_progress', 'qa', 'done', 'failed', 'in_progress'));
      expect(await store.giveBackStale(0)).toBe(2);
      expect(outside.rows().map(({ draft }) => draft)).toEqual(['todo', 'qa', 'done', 'failed', 'todo']);
      expect(await store.changes()).toEqual([]);
    });
  });

  describe('record', () => {
    test('T1 refuses every arrow that is not in the picture, and changes nothing', async () => {
      const allowed = ['in_progress qa', 'in_progress failed', 'qa done', 'qa failed', 'qa in_progress'];
      const subject = open(items('todo', 'qa'));
      const claims = await claimAll(subject.store);
      const before = subject.outside.rows();
      for (const { token } of claims) {
        for (const from of STATUSES) {
          for (const to of STATUSES) {
            if (allowed.includes(`${from} ${to}`)) continue;
            const refused = subject.store.record(token, from, to, { url: 'x' });
            await expect(refused).rejects.toMatchObject({ code: 'bad-transition' });
          }
        }
      }
      expect(subject.outside.rows()).toEqual(before);
      expect(await subject.store.record(claims[0]!.token, 'in_progress', 'qa')).toEqual({ ok: true });
    });

    test('T1 T8 sends an item from qa back to its dev, under the same token, and from there on again', async () => {
      const subject = open(items('qa'));
      const { store, outside, events } = subject;
      const [a] = (await claimAll(store)) as [Claim];
      expect(await store.record(a.token, 'qa', 'in_progress', {}, 'not blue')).toEqual({ ok: true });
      expect(seen(subject)).toEqual(['a in_progress todo']);
      expect(await store.record(a.token, 'qa', 'done')).toMatchObject({ ok: false });
      // Still claimed: nobody else may have it, and an edit from outside is one of an item in flight.
      expect(await claimAll(store)).toEqual([]);
      outside.edit(([row]) => [{ ...row!, draft: 'done' }]);
      expect(await store.record(a.token, 'in_progress', 'qa')).toEqual({ ok: true });
      expect(await store.record(a.token, 'qa', 'done')).toEqual({ ok: true });
      expect(events.find(({ type }) => type === 'item:recorded')).toMatchObject({
        from: 'qa',
        to: 'in_progress',
        reason: 'not blue',
      });
    });

    test('T5 T8 what was sent back to its dev can be given back', async () => {
      const subject = open(items('qa'));
      const [a] = (await claimAll(subject.store)) as [Claim];
      await subject.store.record(a.token, 'qa', 'in_progress');
      expect(await subject.store.release(a.token, 'stopped')).toEqual({ ok: true });
      expect(seen(subject)).toEqual(['a todo todo']);
    });

    test('T2 writes the dev’s and the qa’s arrows, with the captured values and the reason', async () => {
      const subject = open(items('todo', 'todo', 'qa', 'qa'));
      const { store, events } = subject;
      const [a, b, c, d] = (await claimAll(store)) as [Claim, Claim, Claim, Claim];
      expect(await store.record(a.token, 'in_progress', 'qa', { url: 'http://a', extra: 'new column' })).toEqual({
        ok: true,
      });
      await store.record(b.token, 'in_progress', 'failed', {}, 'no luck');
      await store.record(c.token, 'qa', 'done');
      await store.record(d.token, 'qa', 'failed', {}, 'not good');
      expect(seen(subject)).toEqual(['a qa todo', 'b failed todo', 'c done todo', 'd failed todo']);
      expect(subject.outside.rows()[0]).toMatchObject({ url: 'http://a', extra: 'new column' });
      expect(subject.outside.rows()[1]).toMatchObject({ url: '', extra: '' });
      expect(await store.record(a.token, 'qa', 'done')).toEqual({ ok: true });
      expect(events.filter(({ type }) => type === 'item:recorded')).toMatchObject([
        { index: 0, item: a.id, task: 'draft', from: 'in_progress', to: 'qa' },
        { index: 1, item: b.id, from: 'in_progress', to: 'failed', reason: 'no luck' },
        { index: 2, to: 'done' },
        { index: 3, to: 'failed', reason: 'not good' },
        { index: 0, to: 'done' },
      ]);
    });

    test('T2 takes an item from its dev to its verdict at once, one arrow after the other', async () => {
      const subject = open(items('todo', 'todo'));
      const { store, events } = subject;
      const [a, b] = (await claimAll(store)) as [Claim, Claim];
      const both = ({ token }: Claim) => [
        store.record(token, 'in_progress', 'qa', { url: token }),
        store.record(token, 'qa', 'done'),
      ];
      expect(await Promise.all(both(a))).toEqual([{ ok: true }, { ok: true }]);
      subject.outside.edit((rows) => rows.map((row, i) => (i === 1 ? { ...row, draft: 'failed' } : row)));
      expect(await Promise.all(both(b))).toMatchObject([{ ok: false }, { ok: false }]);
      expect(seen(subject)).toEqual(['a done todo', 'b failed todo']);
      expect(subject.outside.rows()[0]).toMatchObject({ url: a.token });
      const recorded = events.flatMap((event) => (event.type === 'item:recorded' ? [[event.item, event.to]] : []));
      expect(recorded).toEqual([
        [a.id, 'qa'],
        [a.id, 'done'],
      ]);
    });

    test('T8 refuses a token that is not the current one, and changes nothing', async () => {
      const subject = open(items('todo', 'todo', 'todo', 'todo', 'todo'));
      const { store, outside } = subject;
      const [used, returned, reset, taken, gone] = (await claimAll(store)) as [Claim, Claim, Claim, Claim, Claim];
      await store.record(used.token, 'in_progress', 'failed');
      await store.release(returned.token, 'later');
      await store.reset([reset]);
      outside.edit((rows) =>
        rows.filter((row) => row.name !== 'e').map((row) => (row.name === 'd' ? { ...row, draft: 'failed' } : row)),
      );
      const before = subject.outside.rows();
      for (const token of ['made up', '', ...[used, returned, reset, taken, gone].map((claim) => claim.token)]) {
        const answer = await store.record(token, 'in_progress', 'qa', { url: 'x' });
        expect(answer).toMatchObject({ ok: false, why: expect.stringContaining('token') });
        expect(await store.release(token, 'again')).toMatchObject({ ok: false });
      }
      expect(outside.rows()).toEqual(before);
      const [anew] = await store.claim('draft', [returned.id], terms());
      expect(anew!.token).not.toBe(returned.token);
      expect(await store.record(returned.token, 'in_progress', 'qa')).toMatchObject({ ok: false });
      expect(await store.record(anew!.token, 'in_progress', 'qa')).toEqual({ ok: true });
    });

    test('T8 takes over what another process claimed, as it is, and nothing else', async () => {
      const { store, outside } = open(items('in_progress', 'qa', 'todo', 'done'));
      const [a, b, c, d] = ids(await store.snapshot()) as [string, string, string, string];
      const adopt = (id: string) => store.adopt({ id, task: 'draft' }, terms());
      expect(await adopt(c)).toBeUndefined();
      expect(await adopt(d)).toBeUndefined();
      expect(await adopt('nobody')).toBeUndefined();
      const [mine, judged] = [(await adopt(a))!, (await adopt(b))!];
      expect([mine, judged]).toMatchObject([
        { id: a, row: 0, status: 'in_progress' },
        { id: b, row: 1, status: 'qa' },
      ]);
      expect(await store.record(mine.token, 'in_progress', 'qa')).toEqual({ ok: true });
      expect(await store.record(judged.token, 'qa', 'done')).toEqual({ ok: true });
      expect(outside.rows().map(({ draft }) => draft)).toEqual(['qa', 'done', 'todo', 'done']);
    });

    test('refuses an arrow that begins elsewhere than where the item is', async () => {
      const subject = open(items('todo'));
      const [a] = (await claimAll(subject.store)) as [Claim];
      expect(await subject.store.record(a.token, 'qa', 'done', { url: 'x' })).toMatchObject({
        ok: false,
        why: 'its status is in_progress, not qa',
      });
      expect(subject.outside.rows()[0]).toMatchObject({ draft: 'in_progress', url: '' });
    });

    test('T7 lands on the item’s own row wherever that is now', async () => {
      const subject = open(items('todo', 'todo', 'todo'));
      const { store, outside } = subject;
      const [a, b, c] = (await claimAll(store)) as [Claim, Claim, Claim];
      outside.edit((rows) => [{ ...items('todo')[0]!, name: 'new' }, ...rows.toReversed()]);
      await store.record(a.token, 'in_progress', 'qa', { url: 'of a' });
      outside.edit((rows) => rows.map((row) => (row.name === 'c' ? { ...row, city: 'edited' } : row)));
      await store.record(c.token, 'in_progress', 'failed');
      outside.edit((rows) => rows.filter((row) => row.name !== 'b'));
      expect(await store.record(b.token, 'in_progress', 'qa', { url: 'of b' })).toMatchObject({ ok: false });
      expect(outside.rows().map(({ name, city, draft, url }) => `${name} ${city} ${draft} ${url}`)).toEqual([
        'new 00 todo ',
        'c edited failed ',
        'a 00 qa of a',
      ]);
    });
  });

  test('release gives an item back: in_progress becomes todo, qa stays, and both can be claimed again', async () => {
    const subject = open(items('todo', 'qa'));
    const { store, events } = subject;
    const [a, b] = (await claimAll(store)) as [Claim, Claim];
    expect(await store.release(a.token, 'the network is down')).toEqual({ ok: true });
    expect(await store.release(b.token, 'stopped')).toEqual({ ok: true });
    expect(seen(subject)).toEqual(['a todo todo', 'b qa todo']);
    expect(events).toMatchObject([
      { type: 'item:returned', index: 0, item: a.id, task: 'draft', reason: 'the network is down' },
      { type: 'item:returned', index: 1, item: b.id, reason: 'stopped' },
    ]);
    expect((await claimAll(store)).map(({ status }) => status)).toEqual(['in_progress', 'qa']);
  });

  test('reset takes the named item-tasks to todo, and says how many changed', async () => {
    const subject = open(items('todo', 'in_progress', 'qa', 'done', 'failed', 'done'));
    const { store } = subject;
    const named = ids(await store.snapshot()).slice(0, 5);
    const cells = ['nobody', ...named].map((id) => ({ id, task: 'draft' }));
    expect(await store.reset(cells)).toBe(4);
    expect(seen(subject).map((line) => line.split(' ')[1])).toEqual(['todo', 'todo', 'todo', 'todo', 'todo', 'done']);
    expect(await store.changes()).toEqual([]);
  });

  describe('changes', () => {
    test('T4 tells once of an item that was withdrawn, and its token is void', async () => {
      const { store, outside, events } = open(items('todo', 'todo', 'todo', 'todo', 'qa'));
      const [a, b, c, d, e] = (await claimAll(store)) as [Claim, Claim, Claim, Claim, Claim];
      const to: Record<string, string> = { a: 'todo', b: 'failed', e: 'todo' };
      outside.edit((rows) =>
        rows.filter((row) => row.name !== 'c').map((row) => ({ ...row, draft: to[row.name!] ?? row.draft! })),
      );
      const changes = await store.changes();
      expect(changes).toHaveLength(4);
      expect(changes).toEqual(
        expect.arrayContaining([
          { kind: 'withdrawn', id: a.id, task: 'draft', token: a.token, reason: 'set to todo by an edit' },
          { kind: 'withdrawn', id: b.id, task: 'draft', token: b.token, reason: 'set to failed by an edit' },
          { kind: 'withdrawn', id: c.id, task: 'draft', token: c.token, reason: 'its row was removed' },
          { kind: 'withdrawn', id: e.id, task: 'draft', token: e.token, reason: 'set to todo by an edit' },
        ]),
      );
      const told = events.filter(({ type }) => type === 'item:withdrawn');
      expect(told).toHaveLength(4);
      // People know a row that is gone by the number it had.
      expect(told).toEqual(expect.arrayContaining([expect.objectContaining({ item: c.id, index: 2, to: null })]));
      expect(told).toEqual(expect.arrayContaining([expect.objectContaining({ item: b.id, to: 'failed' })]));
      expect(await store.changes()).toEqual([]);
      for (const { token } of [a, b, c, e])
        expect(await store.record(token, 'in_progress', 'qa')).toMatchObject({ ok: false });
      expect(await store.record(d.token, 'in_progress', 'qa')).toEqual({ ok: true });
    });

    test('D5 puts back what only the run may write, and says so; the rest of that edit holds', async () => {
      const subject = open(items('todo', 'todo', 'todo', 'todo', 'failed', 'todo'));
      const { store, outside, events } = subject;
      const all = ids(await store.snapshot());
      const [a] = (await store.claim('draft', [all[0]!], terms())) as [Claim];
      const to: Record<string, string> = { a: 'done', b: 'in_progress', c: 'qa', d: 'done', e: 'done' };
      const [fresh, older] = items('qa', 'done') as [Row, Row];
      outside.edit((rows) => [
        ...rows.map((row) => (row.name === 'f' ? { ...row, city: 'kept' } : { ...row, draft: to[row.name!]! })),
        { ...fresh, name: 'new' },
        { ...older, name: 'older' },
      ]);
      expect(await kinds(store)).toEqual(Array(7).fill('reverted'));
      expect(seen(subject)).toEqual([
        ...['a in_progress todo', 'b todo todo', 'c todo todo', 'd todo todo', 'e failed todo', 'f todo todo'],
        ...['new todo todo', 'older todo todo'],
      ]);
      expect(outside.rows()[5]).toMatchObject({ name: 'f', city: 'kept' });
      expect(events.some(({ type }) => type === 'edit:reverted')).toBe(true);
      expect(await store.record(a.token, 'in_progress', 'qa')).toEqual({ ok: true });
      expect(await store.changes()).toEqual([]);
    });

    test('D5 nobody becomes done by being made into another row', async () => {
      const subject = open(items('todo', 'todo', 'todo'));
      const { store, outside } = subject;
      const [, claimed] = ids(await store.snapshot());
      const [b] = (await store.claim('draft', [claimed!], terms())) as [Claim];
      const stranger = { ...items('done')[0]!, name: 'somebody else', city: 'far away' };
      outside.edit(([first, , third]) => [first!, stranger, third!]);
      expect(await store.changes()).toMatchObject([
        { kind: 'reverted' },
        { kind: 'withdrawn', token: b.token, reason: 'its row was removed' },
      ]);
      expect(seen(subject)).toEqual(['a todo todo', 'somebody else todo todo', 'c todo todo']);
    });

    test('D5 a row that appears begins at todo, whatever it claims, also as a copy of one that goes later', async () => {
      const subject = open(items('done', 'todo', 'todo'));
      const { store, outside } = subject;
      await store.snapshot();
      const named = (name: string, draft: string): Row => ({ ...items('todo')[0]!, name, city: name, draft });
      outside.edit((rows) => [...rows, ...STATUSES.map((status) => named(`is ${status}`, status))]);
      expect((await store.changes()).map((each) => 'what' in each && each.what)).toEqual(
        ['in_progress', 'qa', 'done', 'failed'].map((status, i) => `new row ${i + 5}: draft from todo to ${status}`),
      );
      outside.edit((rows) => rows.slice(0, 3));
      await store.changes();
      outside.edit(([a, b, c]) => [a!, b!, c!, { ...a! }, { ...b!, draft: 'done' }]);
      expect(await kinds(store)).toEqual(['reverted', 'reverted']);
      outside.edit(([a, , c, d, e]) => [a!, c!, d!, e!]);
      expect(await store.changes()).toEqual([]);
      expect(seen(subject)).toEqual(['a done todo', 'c todo todo', 'a todo todo', 'b todo todo']);
    });

    test('T7 a column that is renamed changes nobody, and hides nobody', async () => {
      const subject = open(items('done', 'todo', 'done'));
      const { store, outside } = subject;
      await store.snapshot();
      const renamed = ({ name, city, ...rest }: Row): Row => ({ title: name!, town: city!, ...rest }) as Row;
      outside.edit((rows) => rows.map(renamed));
      expect(await store.changes()).toEqual([]);
      const columns = () => outside.rows().map(({ title, draft }) => `${title} ${draft}`);
      expect(columns()).toEqual(['a done', 'b todo', 'c done']);
    });

    test('D5 T4 rows that were missing for a moment come back with what they had earned, and with nothing more', async () => {
      const subject = open(items('done', 'todo', 'todo', 'failed', 'qa'));
      const { store, outside } = subject;
      const all = ids(await store.snapshot());
      const [b] = (await store.claim('draft', [all[1]!], terms())) as [Claim];
      await store.record(b.token, 'in_progress', 'qa');
      await store.record(b.token, 'qa', 'done');
      const whole = outside.rows();
      outside.edit(() => whole.slice(4));
      expect(await store.changes()).toEqual([]);
      outside.edit(() => whole.map((row) => (row.name === 'c' ? { ...row, draft: 'done' } : row)));
      expect(await kinds(store)).toEqual(['reverted']);
      expect(seen(subject)).toEqual(['a done todo', 'b done todo', 'c todo todo', 'd failed todo', 'e qa todo']);
      outside.edit((rows) => [...rows, { ...rows[1]! }]);
      expect(await kinds(store)).toEqual(['reverted']);
    });

    test('D5 an old copy of the whole table takes back no status of this run; its other edits hold', async () => {
      const subject = open(items('todo', 'todo', 'todo', 'todo', 'todo'));
      const { store, outside } = subject;
      const old = outside.rows();
      const [a, b, c, d] = (await store.claim('draft', ids(await store.snapshot()).slice(0, 4), terms())) as Claim[];
      const saveOld = () => outside.edit(() => old.map((row) => ({ ...row, city: `of ${row.name}` })));
      saveOld();
      expect(await kinds(store)).toEqual(Array(4).fill('reverted'));
      await store.record(a!.token, 'in_progress', 'qa', { url: 'http://a' });
      await store.record(a!.token, 'qa', 'done');
      await store.record(b!.token, 'in_progress', 'failed');
      await store.record(c!.token, 'in_progress', 'qa');
      saveOld();
      expect(await kinds(store)).toEqual(Array(4).fill('reverted'));
      expect(seen(subject)).toEqual(['a done todo', 'b failed todo', 'c qa todo', 'd in_progress todo', 'e todo todo']);
      expect(outside.rows()[0]).toMatchObject({ url: 'http://a', city: 'of a' });
      for (const [claim, from] of [
        [c, 'qa'],
        [d, 'in_progress'],
      ] as const) {
        expect(await store.record(claim!.token, from, 'failed')).toEqual({ ok: true });
      }
    });

    test('D5 a status that a person set with a command is meant', async () => {
      const subject = open(items('todo', 'todo', 'todo'));
      const { store, outside } = subject;
      const [a, b, c] = (await claimAll(store)) as [Claim, Claim, Claim];
      await store.record(a.token, 'in_progress', 'qa');
      await store.record(a.token, 'qa', 'done');
      await outside.command(0, 'draft', 'todo');
      expect(await store.changes()).toEqual([]);
      // Nobody passes what is in flight; it can only be taken away.
      await outside.command(1, 'draft', 'qa');
      expect(await store.changes()).toMatchObject([{ kind: 'reverted' }]);
      await outside.command(1, 'draft', 'failed');
      expect(await store.changes()).toMatchObject([{ kind: 'withdrawn', token: b.token }]);
      await outside.command(2, 'draft', 'todo');
      expect(await store.changes()).toMatchObject([{ kind: 'withdrawn', token: c.token }]);
      expect(seen(subject)).toEqual(['a todo todo', 'b failed todo', 'c todo todo']);
      // The done of this run was taken back by a command, so it is no longer protected.
      await outside.command(0, 'draft', 'in_progress');
      await outside.command(0, 'draft', 'failed');
      await store.changes();
      outside.edit(([first, ...rest]) => [{ ...first!, draft: 'todo' }, ...rest]);
      expect(await store.changes()).toEqual([]);
      expect(seen(subject)[0]).toBe('a todo todo');
    });
  });

  describe('prepare', () => {
    test('adds the columns of outputs, and takes on a new task', async () => {
      const { store, outside } = open(items('todo', 'todo').map((row) => ({ ...row, review: 'todo' })));
      const first = ids(await store.snapshot());
      await store.prepare(['draft', 'review'], new Map([['review', ['score', 'url']]]));
      expect(outside.rows()[0]).toMatchObject({ score: '', url: '' });
      const snapshot = await store.snapshot();
      expect(snapshot.tasks).toEqual(['draft', 'review']);
      expect(snapshot.metadata(0)).toEqual({ name: 'a', city: '00', send: 'todo', url: '', score: '' });
      // Who was known before is the same item, although another column counts as metadata now.
      expect(ids(snapshot)).toEqual(first);
      expect(await store.claim('review', first, terms())).toHaveLength(2);
    });

    test('T4 D5 a task that leaves the Task Order keeps its running items until they end, and takes no new ones', async () => {
      const subject = open(items('todo', 'todo', 'todo', 'todo'));
      const { store, outside } = subject;
      const [a, b, c, d] = (await claimAll(store)) as [Claim, Claim, Claim, Claim];
      await store.prepare(['send'], new Map());
      const snapshot = await store.snapshot();
      expect([snapshot.tasks, snapshot.columns.length]).toEqual([['send'], 1]);
      expect([a, b, c, d].map(({ id }) => snapshot.rowOf(id))).toEqual([0, 1, 2, 3]);
      // An edit can't pass a running item, but can take one away.
      outside.edit((rows) => rows.map((row, i) => (i === 0 ? { ...row, draft: 'done' } : row)));
      expect(await kinds(store)).toEqual(['reverted']);
      outside.edit((rows) => rows.map((row, i) => (i === 3 ? { ...row, draft: 'failed' } : row)));
      expect(await store.changes()).toMatchObject([{ kind: 'withdrawn', token: d.token }]);
      expect(await store.record(a.token, 'in_progress', 'qa', { url: 'a.html' })).toEqual({ ok: true });
      expect(await store.record(a.token, 'qa', 'done')).toEqual({ ok: true });
      expect(await store.record(b.token, 'in_progress', 'failed', {}, 'it broke')).toEqual({ ok: true });
      expect(await store.release(c.token, 'stopped')).toEqual({ ok: true });
      expect(seen(subject)).toEqual(['a done todo', 'b failed todo', 'c todo todo', 'd failed todo']);
      expect(outside.rows()[0]).toMatchObject({ url: 'a.html' });
      await expect(store.claim('draft', [c.id], terms())).rejects.toMatchObject({ code: 'not-found' });
      await store.prepare(TASKS, OUTPUTS);
      expect(statuses(await store.snapshot())).toEqual(['done', 'failed', 'todo', 'failed']);
    });

    test('refuses a task without its column, and changes nothing', async () => {
      const { store, outside } = open(items('todo'));
      const before = outside.rows();
      await expect(store.prepare(['draft', 'review'], new Map([['review', ['score']]]))).rejects.toMatchObject({
        code: 'bad-table',
      });
      expect(outside.rows()).toEqual(before);
      expect((await store.snapshot()).tasks).toEqual(TASKS);
    });
  });
});

describe('the folder store writes', () => {
  test('T2 T3 a claim of many items once, and changes that wait together together', async () => {
    const { store, writes } = folderSubject(items(...Array<Status>(8).fill('todo')));
    const claims = await claimAll(store);
    expect([claims.length, writes!()]).toEqual([8, 1]);
    const recorded = await Promise.all(
      claims.map(({ token }) => store.record(token, 'in_progress', 'qa', { url: token })),
    );
    expect(recorded).toEqual(Array(8).fill({ ok: true }));
    expect(writes!()).toBeGreaterThan(1);
    expect(writes!()).toBeLessThanOrEqual(3);
  });

  test('T4 an editor that saves at the last moment before a write loses nothing, and neither does the run', async () => {
    const rows = items('todo', 'todo', 'todo');
    const lines = (note: string, ...draft: Status[]) =>
      `name,city,draft,send,url\n${draft.map((status, i) => `${rows[i]!.name},${i === 1 ? note : rows[i]!.city},${status},todo,\n`).join('')}`;
    const found = () => outside.rows().map(({ name, city, draft }) => `${name} ${city}: ${draft}`);
    let overtake: string | undefined;
    const { store, outside, events, table } = folderSubject(rows, (name, file) => {
      if (name !== 'table:synced' || overtake === undefined) return;
      writeFileSync(file, overtake);
      overtake = undefined;
    });
    const all = ids(await store.snapshot());
    overtake = lines('first edit', 'todo', 'failed', 'todo');
    const claims = await store.claim('draft', all, terms());
    expect(claims.map(({ row }) => row)).toEqual([0, 2]);
    expect(found()).toEqual(['a 00: in_progress', 'b first edit: failed', 'c 22: in_progress']);
    // Also while a forbidden edit is just being put back.
    writeFileSync(table!, lines('second edit', 'done', 'failed', 'in_progress'));
    overtake = lines('third edit', 'done', 'failed', 'todo');
    expect(await kinds(store)).toEqual(['reverted', 'withdrawn']);
    expect(found()).toEqual(['a 00: in_progress', 'b third edit: failed', 'c 22: todo']);
    expect(events.map(({ type }) => type)).toEqual(['edit:reverted', 'item:withdrawn']);
    overtake = lines('fourth edit', 'in_progress', 'failed', 'todo');
    await outside.command(1, 'draft', 'todo');
    expect(outside.rows()[1]).toMatchObject({ city: 'fourth edit', draft: 'todo' });
    expect(await store.record(claims[0]!.token, 'in_progress', 'qa')).toEqual({ ok: true });
  });

  test('T3 what is asked during a write is what was there before it, and an edit of that moment is not overlooked', async () => {
    const during: (() => void)[] = [];
    const subject = folderSubject(items('todo', 'todo'), (name) => {
      if (name === 'table:written') during.shift()?.();
    });
    const { store, outside } = subject;
    const [first, second] = (await claimAll(store)) as [Claim, Claim];
    const told: string[] = [];
    const tell = (what: Promise<unknown>) => what.then((answer) => told.push(JSON.stringify(answer)));
    const asked: Promise<unknown>[] = [];

    during.push(() => asked.push(tell(store.snapshot().then((snapshot) => statuses(snapshot)))));
    await tell(store.record(first.token, 'in_progress', 'qa'));
    await Promise.all(asked);
    expect(told.splice(0)).toEqual(['["in_progress","in_progress"]', '{"ok":true}']);

    during.push(() => {
      outside.edit((rows) => rows.map((row) => ({ ...row, draft: row.name === 'b' ? 'done' : row.draft! })));
      asked.push(tell(kinds(store)));
    });
    expect(await store.record(second.token, 'in_progress', 'qa')).toEqual({ ok: true });
    await Promise.all(asked);
    expect(told).toEqual(['["reverted"]']);
    expect(seen(subject)).toEqual(['a qa todo', 'b qa todo']);
  });

  test('T4 a column that you remove after its task left the Task Order takes its running items along', async () => {
    const subject = folderSubject(items('todo', 'todo'));
    const { store, outside, events } = subject;
    const [a] = await claimAll(store);
    await store.prepare(['send'], new Map());
    outside.edit((rows) => rows.map(({ draft: _, ...row }) => row));
    expect((await store.changes()).map((change) => 'reason' in change && change.reason)).toEqual([
      'its column was removed',
      'its column was removed',
    ]);
    expect(events).toContainEqual(expect.objectContaining({ type: 'item:withdrawn', index: 1, to: null }));
    expect(await store.record(a!.token, 'in_progress', 'qa')).toMatchObject({ ok: false });
    expect(await store.claim('send', [a!.id], terms())).toHaveLength(1);
  });

  test('T3 nothing when nothing changes', async () => {
    const { store, outside, writes } = folderSubject(items('done', 'todo'));
    await store.snapshot();
    await store.claim('draft', ['nobody'], terms());
    await store.record('made up', 'in_progress', 'qa');
    await store.reset([]);
    await store.changes();
    outside.edit((rows) => rows.map((row) => ({ ...row, city: 'edited' })));
    await store.changes();
    expect(writes!()).toBe(0);
  });
});
