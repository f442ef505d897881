import fc from 'fast-check';
import { expect, test } from 'vitest';
import { openAndCheck } from '../../src/app/open-shift.ts';
import { processIo } from '../../src/cli/io.ts';
import { createProgram } from '../../src/cli/program.ts';
import { NightshiftError } from '../../src/core/model/errors.ts';
import { openShift } from '../../src/store/folder/layout.ts';
import { agentTask, CALLS, Project, type ShiftHandle, shellTask, until } from '../harness.ts';

/** A command in this process, since there are many: what it prints, or the error that it throws. */
async function inProcess(project: Project, ...args: string[]): Promise<string | NightshiftError> {
  const printed: string[] = [];
  const print = (line: string) => printed.push(line);
  const io = { ...processIo(), cwd: project.root, isInteractive: false, terminal: undefined, print, warn: print };
  try {
    await createProgram(io, '0', () => {}).parseAsync(args, { from: 'user' });
  } catch (error) {
    if (error instanceof NightshiftError) return error;
    throw error;
  }
  return printed.join('\n');
}

/** Waits at its dev until the file `go` is there. */
const WAITS = { sh: 'until [ -e go ]; do sleep 0.02; done' };

/** Of the same task, so many at once, for the agent fixture. */
function agentShift(project: Project, table: string, size: number, steps?: string): ShiftHandle {
  return project.shift('night', {
    settings: { parallel: true, 'current-batch-size': size, 'max-batch-size': size },
    table,
    tasks: { work: agentTask(steps, '- {name} is done', '- attempts: 1') },
  });
}

function devCalls(project: Project): { name: string; key: string; ended?: boolean }[] {
  return project.calls().filter(({ role, ended }) => role === 'dev' && !ended);
}

async function devsRun(project: Project, count: number): Promise<void> {
  await until(() => devCalls(project).length === count, `${count} devs in ${CALLS}`);
}

test('F3 F5 T1 what /nightshift-update-table asks for: a new table has `row`; columns and rows come, change and go', async () => {
  const project = new Project();
  const said: unknown[] = [];
  const ask = async (...args: string[]) => said.push(await inProcess(project, 'table', 'night', ...args));
  const text = () => project.read('.nightshift/night/table.csv');
  await project.run(['create', 'night', '--agent', 'shell']);
  expect(text()).toBe('row\n');
  await ask('add-column', 'name');
  project.write('work.md', shellTask('test {name} != beta'));
  await project.run(['add-task', 'night', 'work', '--from', 'work.md']);
  for (const name of ['alpha', 'beta', 'gamma']) await ask('add', `name=${name}`);
  project.write('more.csv', 'name,row\n"delta, the last",x\n');
  await ask('import', 'more.csv');
  expect(text()).toBe('row,name,work\n1,alpha,todo\n2,beta,todo\n3,gamma,todo\nx,"delta, the last",todo\n');
  await ask('add-column', 'note', '--value', 'say "hi"');
  await ask('edit', 'note', '1', 'other');
  await ask('rename-column', 'note', 'the note');
  await ask('remove', '--index', '2', '--index', '0');
  await ask('remove', '--where', 'row=x', '--where', 'work=todo', '--json');
  expect(text()).toBe('row,name,work,the note\n2,beta,todo,"other"\n');
  await ask('drop-column', 'row', '--json');
  expect((await project.run(['start', 'night'])).code).toBe(3);
  await ask('reset', '--failed');
  expect(text()).toBe('name,work,the note\nbeta,todo,"other"\n');
  expect(said).toEqual([
    'added the column name: empty in 0 rows',
    ...[1, 2, 3].map((row) => `added as row ${row}`),
    '1 row added',
    'added the column note: say "hi" in 4 rows',
    'note of row 2 (index 1): say "hi" -> other',
    'the column note is now the note',
    '2 rows removed',
    '{"removed":1,"running":0}',
    '{"column":"row","rows":1}',
    '1 reset to todo',
  ]);
});

test('F5 a column that comes, gets another name and goes leaves every byte as it was; the lines of others stay', async () => {
  const project = new Project();
  const before = '\uFEFF"name",note,work\r\n"a ""b""",,"todo"\n,,\r\nc,"x\ny",\r\n,,todo';
  const shift = project.shift('night', { table: before, tasks: { work: shellTask('true') } });
  const table = (...args: string[]) => inProcess(project, 'table', 'night', ...args);
  await table('add-column', 'extra', '--value', 'a,b');
  expect(shift.tableText).toBe(
    '\uFEFF"name",note,work,extra\r\n"a ""b""",,"todo","a,b"\n,,\r\nc,"x\ny",,"a,b"\r\n,,todo,"a,b"',
  );
  await table('rename-column', 'name', 'id');
  await table('rename-column', 'id', 'name');
  await table('drop-column', 'extra');
  expect(shift.tableText).toBe(before);
  await table('remove', '--index', '2');
  await table('drop-column', 'note');
  expect(shift.tableText).toBe('\uFEFF"name",work\r\n"a ""b""","todo"\n,,\r\nc,');
});

test('T7 after columns have changed, everything that is known of a row still belongs to it, and its key is the same', async () => {
  const project = new Project();
  const shift = agentShift(project, 'group,name,work\nx,a,todo\nx,b,todo\ny,c,todo\n', 3, '1. Do {name}');
  project.behave({ 'dev:b': { report: { overall_status: 'FAILED (step 1)', error: 'no b today' } } });
  expect((await shift.start()).code).toBe(3);
  const keys = Object.fromEntries(devCalls(project).map(({ name, key }) => [name, key]));
  const show = async () => {
    const { tasks } = JSON.parse((await inProcess(project, 'show', 'night', '2', '--json')) as string);
    return [tasks[0].key, tasks[0].failure, tasks[0].transcripts.length];
  };
  const all = [keys.b, 'FAILED (step 1): no b today', 1];
  expect(await show()).toEqual(all);
  const changes = [
    ['add-column', 'note', '--value', 'new'],
    ['edit', 'note', '1', 'for b'],
    ['rename-column', 'note', 'remark'],
    ['rename-column', 'group', 'kind'],
    ['rename-column', 'kind', 'group'],
    ['rename-column', 'group', 'kind'],
    ['drop-column', 'kind'],
    ['add-column', 'group'],
    ['drop-column', 'remark'],
    ['add-column', 'kind', '--value', 'x'],
  ];
  for (const change of changes) {
    expect([change, await inProcess(project, 'table', 'night', ...change)]).toEqual([change, expect.any(String)]);
    expect([change, await show()]).toEqual([change, all]);
  }
  expect(await inProcess(project, 'table', 'night', 'remove', '--index', '0')).toBe('1 row removed');
  expect(await inProcess(project, 'status', 'night')).toContain(
    'failed: work, row 1 b after 1 attempt\n  FAILED (step 1): no b today\n',
  );
  expect(await inProcess(project, 'logs', 'night', '--row', '1')).toContain('no b today');
  expect((await project.run(['export', 'night', '--csv', '-'])).stdout.split('\n')[1]).toContain('no b today');
  project.behave({});
  const retried = await project.run(['retry', 'night', '--json']);
  expect([retried.code, devCalls(project).slice(3)]).toMatchObject([0, [{ name: 'b', key: keys.b }]]);
  expect(shift.column('work')).toEqual(['done', 'done']);
});

test('T3 T4 T7 columns that change during a run: nobody is stopped, nothing is done twice, each status lands on its row', async () => {
  const project = new Project();
  const rows = ['a,1', 'b,2', 'c,3', 'c,4', 'd,5'].map((row) => `${row},todo\n`).join('');
  const shift = agentShift(project, `name,nr,work\n${rows}`, 4);
  const fails = { report: { overall_status: 'FAILED (step 1)', error: 'no' } };
  project.behave({ 'dev:a': WAITS, 'dev:b': { ...WAITS, ...fails }, 'dev:c': WAITS });
  const running = shift.launch();
  await devsRun(project, 4);
  const changes = [
    ['add-column', 'note', '--value', 'x'],
    ['rename-column', 'note', 'remark'],
    ['edit', 'remark', '0', 'mine'],
    // Without it, two rows look the same.
    ['drop-column', 'nr'],
    ['add', 'name=e', 'remark=late'],
    ['remove', '--where', 'name=d'],
  ];
  for (const change of changes) {
    expect([change, await inProcess(project, 'table', 'night', ...change)]).toEqual([change, expect.any(String)]);
  }
  expect(shift.tableText).toBe(
    'name,work,remark\na,in_progress,mine\nb,in_progress,x\nc,in_progress,x\nc,in_progress,x\ne,todo,late\n',
  );
  project.write('go', '');
  const { code, events } = await running.ended;
  expect(code).toBe(3);
  expect(shift.tableText).toBe('name,work,remark\na,done,mine\nb,failed,x\nc,done,x\nc,done,x\ne,done,late\n');
  expect(
    devCalls(project)
      .map(({ name }) => name)
      .sort(),
  ).toEqual(['a', 'b', 'c', 'c', 'e']);
  expect(events.filter(({ type }) => ['item:withdrawn', 'edit:reverted', 'run:warning'].includes(type))).toEqual([]);
  const { tasks } = JSON.parse((await project.run(['show', 'night', '2', '--json'])).stdout);
  expect([tasks[0].key, tasks[0].failure]).toEqual([
    devCalls(project).find(({ name }) => name === 'b')!.key,
    'FAILED (step 1): no',
  ]);
  expect((await shift.start()).events.filter(({ type }) => type === 'dev:started')).toEqual([]);
});

test('T4 a row that is removed while it is worked on is withdrawn, and the command says so', async () => {
  const project = new Project();
  const shift = agentShift(project, 'name,x,work\na,,todo\nb,,todo\n', 2);
  project.behave({ 'dev:a': WAITS, 'dev:b': WAITS });
  const running = shift.launch();
  await devsRun(project, 2);
  const { stdout } = await project.run(['table', 'night', 'remove', '--index', '0']);
  expect(stdout).toBe('1 row removed, 1 of them running: agents stopped, results dropped\n');
  expect(await running.seen('item:withdrawn')).toMatchObject({ index: 0, reason: 'its row was removed' });
  const emptied = await inProcess(project, 'table', 'night', 'remove', '--where', 'x=');
  expect(emptied).toMatchObject({ message: "all rows can't be removed while the shift runs" });
  // Its task needs it, and could not be done without it.
  const refused = await inProcess(project, 'table', 'night', 'drop-column', 'name', '--force');
  expect(refused).toMatchObject({
    message: 'the task work uses {name}',
    hint: expect.stringContaining('stop the shift'),
  });
  project.write('go', '');
  await running.ended;
  expect(shift.tableText).toBe('name,x,work\nb,,done\n');
});

test('F6 V2 a column that something needs, a name that is none, and rows that are not there are refused, and nothing changes', async () => {
  const project = new Project();
  const steps = `1. Look at {slug}\n2. Note {url}`;
  const shift = project.shift('night', {
    table: 'slug,note,work,later,size\na,b,todo,todo,\n',
    tasks: { work: agentTask('1. Do it', '- It is done', '- outputs: size, url'), later: agentTask(steps, '- {size}') },
  });
  const folder = project.path('.nightshift/night');
  const cases: [args: string[], message: string, hint: string][] = [
    [['drop-column', 'work'], 'the column work holds the statuses of the task work', 'nightshift edit night manager'],
    [['rename-column', 'work', 'x', '--force'], 'holds the statuses of the task work', 'out of the Task Order first'],
    [['drop-column', 'slug'], 'the task later uses {slug}', `${folder}/later.md:9`],
    [['rename-column', 'slug', 'id'], 'the task later uses {slug}', 'or add --force'],
    [['drop-column', 'size'], 'the column size holds an output of work', `${folder}/work.md:5`],
    [['add-column', 'url'], 'url is an output of work', `${folder}/work.md:5`],
    [['rename-column', 'note', 'slug'], 'the table already has a column slug', 'choose another name'],
    [['add-column', 'later'], 'a column later, which holds the statuses of a task', 'choose another name'],
    [['add-column', 'ENV:X'], '"ENV:X" is not the name of a column: {ENV:...} never means a column', ''],
    [['add-column', 'a{b}'], 'is not the name of a column: it is text on one line, without braces', ''],
    [['add-column', 'a\nb'], 'it is text on one line, without braces', ''],
    [['add-column', ' '], 'a column needs a name', ''],
    [['add-column', 'x', '--value', 'y'.repeat(1024 * 1024 + 1)], 'too long for column "x"', ''],
    [['drop-column', 'nte'], 'the table has no column "nte"', 'did you mean note?'],
    [['add-column'], 'add-column needs NAME', 'table --help'],
    [['add-column', 'x', 'y'], 'add-column does not take "y"', ''],
    [['remove'], 'no rows are named', '--where COLUMN=VALUE'],
    [['remove', '0'], 'remove does not take "0"', '--row before each row'],
    [['remove', '--index', '7'], 'there is no index "7"', 'indices are 0 to 0'],
    [['remove', '--where', 'slug=z'], 'no row has slug=z', ''],
    [['ad-column', 'x'], 'there is no verb "ad-column"', 'did you mean add-column?'],
  ];
  const before = shift.tableText;
  for (const [args, message, hint] of cases) {
    const error = await inProcess(project, 'table', 'night', ...args);
    expect([args, error]).toEqual([args, expect.any(NightshiftError)]);
    const { message: said, hint: advice = '', file, line } = error as NightshiftError;
    expect([args, said]).toEqual([args, expect.stringContaining(message)]);
    expect([args, `${file}:${line} ${advice}`]).toEqual([args, expect.stringContaining(hint)]);
  }
  expect(shift.tableText).toBe(before);
  expect(project.exists('.nightshift/night/.engine')).toBe(false);
  // With --force, and then nothing starts until the task says something else.
  expect(await inProcess(project, 'table', 'night', 'drop-column', 'slug', '--force')).toBe('dropped the column slug');
  expect((await shift.start()).stderr).toContain('{slug}: the table has no such column');
  expect(await inProcess(project, 'table', 'night', 'drop-column', 'note')).toMatchObject({
    message: 'note is the only metadata column',
  });
});

interface Step {
  kind: 'add' | 'rename' | 'drop';
  at: number;
  value: string;
}

type Cells = [a: string, b: string, c: string, isClaimed: boolean];

const DROP: Step = { kind: 'drop', at: 0, value: '' };
const ADD: Step = { kind: 'add', at: 0, value: 'x' };
/** Only added columns remain, so that ids are derived from them; then comes another one. */
const ONLY_ADDED_ARE_LEFT: [Cells[], Step[][]] = [
  [
    ['x', 'x', 'x', false],
    ['x', 'x', 'x', true],
  ],
  [[ADD], [DROP], [DROP, DROP, ADD], [{ ...ADD, kind: 'rename' }, DROP]],
];

test('T7 fast-check: however columns change while items are in flight, each keeps its id and gets its own status', async () => {
  const cell = fc.constantFrom('x', 'y', '');
  const kind = fc.constantFrom('add' as const, 'rename' as const, 'drop' as const);
  const step: fc.Arbitrary<Step> = fc.record({ kind, at: fc.nat(), value: cell });
  const rows: fc.Arbitrary<Cells[]> = fc.array(fc.tuple(cell, cell, cell, fc.boolean()), {
    minLength: 2,
    maxLength: 5,
  });
  await fc.assert(
    fc.asyncProperty(rows, fc.array(fc.array(step, { maxLength: 4 }), { maxLength: 3 }), async (items, visits) => {
      const project = new Project();
      const lines = items.map(([a, b, c], i) => `${a}!,${b},${c},${i === 0 ? 'done' : 'todo'}\n`);
      const shift = project.shift('night', {
        table: `a,b,c,work\n${lines.join('')}`,
        tasks: { work: agentTask('1. Do', '- Done') },
      });
      const { store, snapshot } = await openAndCheck(openShift(project.root, 'night'));
      const chosen = items.flatMap(([, , , isChosen], row) => (isChosen && row > 0 ? [row] : []));
      const claims = await store.claim(
        'work',
        chosen.map((row) => snapshot.id(row)),
        { owner: 'run', now: 0, expiresAt: 1 },
      );
      let names = ['a', 'b', 'c'];
      let count = 0;
      for (const steps of visits) {
        for (const { kind, at, value } of steps) {
          const name = names[at % names.length]!;
          const fresh = `n${count++}`;
          if (kind === 'drop' && names.length === 1) continue;
          const verbs = {
            add: ['add-column', fresh, '--value', value],
            rename: ['rename-column', name, fresh],
            drop: ['drop-column', name],
          };
          expect(await inProcess(project, 'table', 'night', ...verbs[kind])).toEqual(expect.any(String));
          if (kind === 'add') names.push(fresh);
          if (kind === 'rename') names = names.map((each) => (each === name ? fresh : each));
          if (kind === 'drop') names = names.filter((each) => each !== name);
        }
        expect(await store.changes()).toEqual([]);
      }
      for (const { token } of claims) {
        expect(await store.record(token, 'in_progress', 'qa')).toEqual({ ok: true });
        expect(await store.record(token, 'qa', 'done')).toEqual({ ok: true });
      }
      expect(shift.column('work')).toEqual(
        items.map((_, row) => (row === 0 || chosen.includes(row) ? 'done' : 'todo')),
      );
      const fresh = (await openAndCheck(openShift(project.root, 'night'))).snapshot;
      expect(claims.map(({ row }) => fresh.id(row))).toEqual(claims.map(({ id }) => id));
    }),
    { numRuns: Number(process.env.NIGHTSHIFT_FUZZ ?? 10), examples: [ONLY_ADDED_ARE_LEFT] },
  );
}, 120_000);
