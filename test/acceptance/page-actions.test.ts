import { execFileSync } from 'node:child_process';
import { chmodSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Action } from '../../src/core/page/action.ts';
import { agentTask, NIGHTSHIFT, Project, type ShiftHandle, shellTask, task, until } from '../harness.ts';
import { learnedShift } from '../kit/learned-shift.ts';
import { ALL, eventually, pageOf } from '../kit/page-of-project.ts';
import { remains } from '../kit/remains.ts';
import { RepositoryProject } from '../kit/repository-project.ts';

/** As it was built: runs are started with the program beside it. */
const built = (await import(resolve('dist/app/page/open-page.js'))) as typeof import('../../src/app/page/open-page.ts');

interface Made {
  readonly project: Project;
  readonly shift: ShiftHandle;
  readonly env?: Record<string, string>;
}

const pageIn = ({ project, env = {} }: Made) =>
  pageOf(project, (world, root) => built.openPage({ ...world, env: { ...world.env, ...env } }, root));

/** Runs a command line as a person would paste it. */
function paste({ project, env = {} }: Made, command: string): void {
  project.write('paste/nightshift', `#!/bin/sh\nexec "${process.execPath}" "${NIGHTSHIFT}" "$@"\n`);
  chmodSync(project.path('paste/nightshift'), 0o755);
  const all = { ...process.env, ...env };
  execFileSync('sh', ['-ec', command], {
    cwd: project.root,
    env: { ...all, PATH: `${project.path('paste')}:${all.PATH}` },
    stdio: 'pipe',
  });
}

/** Carries out an action in one shift and its command line in another that is the same, and compares them. */
async function expectSame(make: () => Promise<Made>, choose: (made: Made) => Promise<Action>): Promise<Made> {
  const [acted, typed] = [await make(), await make()];
  expect(remains(acted.shift)).toEqual(remains(typed.shift));
  const page = pageIn(acted);
  const action = await choose(acted);
  const before = remains(acted.shift);
  const dry = await page.act({ shift: 'night', action, isDry: true });
  expect(dry.effect).toMatch(/^[A-Z].*\.$/s);
  expect(remains(acted.shift)).toEqual(before);
  const done = await page.act({ shift: 'night', action });
  expect(done.command).toBe(dry.command);
  paste(typed, done.command);
  for (const { shift } of [acted, typed]) await untilIdle(shift);
  expect(remains(acted.shift)).toEqual(remains(typed.shift));
  expect(remains(acted.shift)).not.toEqual(before);
  return acted;
}

/** No run of it is going on. */
async function untilIdle(shift: ShiftHandle): Promise<void> {
  await eventually(async () => {
    const status = JSON.parse((await shift.project.run(['status', shift.name, '--json'])).stdout);
    return status.running === null;
  });
}

const itemAt = async (made: Made, row: number) => (await pageIn(made).item('night', { row: String(row) })).item;

/** Four rows, of which two fail while the file `fail` is there. */
async function failures(): Promise<Made> {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', attempts: 1 },
    table: 'name,note,work,more\nant,one,todo,todo\nbee,two,todo,todo\ncat,three,todo,todo\ndog,four,todo,todo\n',
    tasks: {
      work: shellTask('case {name} in bee|dog) test ! -e fail;; esac'),
      more: shellTask('true'),
    },
  });
  project.write('fail', '');
  await shift.start(['--rows', '1:3']);
  execFileSync('rm', [project.path('fail')]);
  return { project, shift };
}

describe('an action is what its command line does', () => {
  test.each(['it\'s "$HOME"\n`id`, done', '--force', '-5', ''])('X8 edit a cell to %j', async (value) => {
    const { shift } = await expectSame(failures, async (made) => {
      return { verb: 'edit', item: await itemAt(made, 2), column: 'note', was: 'two', value };
    });
    expect(shift.rows()[1]!.note).toBe(value);
  });

  test('X8 reset rows, and those that match a query', async () => {
    const { shift } = await expectSame(failures, async (made) => {
      return { verb: 'reset', rows: { items: [await itemAt(made, 3), await itemAt(made, 1)] }, task: 'more' };
    });
    expect(shift.column('more')).toEqual(['todo', 'todo', 'todo', 'todo']);
    const matching = await expectSame(failures, async () => {
      return { verb: 'reset', rows: { matching: { ...ALL, status: ['done'] } } };
    });
    expect(matching.shift.column('work')).toEqual(['todo', 'failed', 'todo', 'todo']);
  });

  test('X8 retry what failed, in the background: some rows, or those with a reason', async () => {
    const { shift } = await expectSame(failures, async (made) => {
      return { verb: 'retry', rows: { items: [await itemAt(made, 1), await itemAt(made, 2)] }, task: 'work' };
    });
    expect(shift.column('more')).toEqual(['done', 'done', 'done', 'todo']);
    await expectSame(failures, async (made) => {
      const [group] = (await pageIn(made).shift('night')).groups;
      return { verb: 'retry', rows: { matching: { ...ALL, group: group!.id } }, maxCost: '2.50' };
    });
  });

  test('X8 start what is left', async () => {
    const { shift } = await expectSame(failures, async () => ({ verb: 'start', maxCost: 'none' }));
    expect(shift.column('more')).toEqual(['done', 'todo', 'done', 'done']);
  });

  test('X8 L12 decide about lessons, and restore an earlier version of the Steps', async () => {
    const learned = async (): Promise<Made> => {
      const shift = await learnedShift();
      return { project: shift.project, shift };
    };
    const { project, shift } = await expectSame(learned, async () => {
      return { verb: 'lesson', decision: 'accept', ids: ['L1', 'L2'] };
    });
    expect(shift.task('work')).toContain('2. Knock twice\n3. Wear thick gloves');
    const steps = await pageIn({ project, shift }).steps('night', 'work');
    expect(steps.lessons.map(({ id, state }) => `${id} ${state}`)).toEqual(['L1 firm', 'L2 firm']);
    const restored = await expectSame(
      async () => {
        const made = await learned();
        await made.project.run(['lessons', 'night', 'accept', 'L1']);
        return made;
      },
      async () => ({ verb: 'restore', task: 'work', version: 1 }),
    );
    expect(restored.shift.task('work')).not.toContain('Knock');
  });

  test('X8 W10 deliver what waits for approval, after its diff was read', async () => {
    const { project } = await expectSame(
      async () => {
        const project = new RepositoryProject();
        const step = 'printf "%s\\n" {name} >> {name}.txt';
        const shift = project.rows(['one', 'two'], step, {
          deliver: 'pr',
          'deliver-when': 'approved',
        });
        await project.command(['start', 'night', '--plain']);
        return { project, shift, env: project.env };
      },
      async (made) => {
        const page = pageIn(made);
        expect((await page.shift('night')).decisions.results).toBe(2);
        const item = await page.item('night', { row: '2' });
        expect(item.workspace).toMatchObject({ isHeld: true, files: 1, added: 1, removed: 0 });
        expect((await page.diff('night', { item: item.item })).text).toContain('+++ b/two.txt');
        return { verb: 'deliver', rows: { items: [item.item] } };
      },
    );
    expect((project as RepositoryProject).pullRequests.map(({ title }) => title)).toEqual(['night: two']);
  });
});

describe('an action', () => {
  test('X8 T7 is about the item, wherever its row is by now, and about the cell as it was seen', async () => {
    const made = await failures();
    const { shift } = made;
    const page = pageIn(made);
    const item = await itemAt(made, 2);
    const [header = '', first = '', ...rest] = shift.tableText.split('\n');
    shift.tableText = [header, 'new,zero,todo,todo', first, ...rest].join('\n');
    const edit = { verb: 'edit', item, column: 'note', was: 'two', value: 'second' } as const;
    expect((await page.act({ shift: 'night', action: edit })).command).toContain('--row 3');
    expect(shift.column('note')).toEqual(['zero', 'one', 'second', 'three', 'four']);
    await expect(page.act({ shift: 'night', action: { ...edit, item: 'gone.0' } })).rejects.toMatchObject({
      code: 'not-found',
    });
    // Its metadata is its identity: it is another item now.
    const now = await itemAt(made, 3);
    const before = shift.tableText;
    await expect(page.act({ shift: 'night', action: { ...edit, item: now } })).rejects.toThrow('was changed meanwhile');
    const wrong = { ...edit, item: now, column: 'work', was: 'failed', value: 'done' };
    await expect(page.act({ shift: 'night', action: wrong })).rejects.toMatchObject({ code: 'bad-transition' });
    expect(shift.tableText).toBe(before);
  });

  test('X8 steers a run: pause, resume, withdraw, reset what failed, stop', async () => {
    const project = new Project();
    const shift = project.shift('night', {
      settings: { agent: 'shell', attempts: 1, parallel: true, 'current-batch-size': 3, dispatch: 'stream' },
      table: 'name,work\nant,todo\nbee,todo\ncat,todo\n',
      tasks: {
        work: shellTask('case {name} in cat) exit 1;; esac\nwhile [ ! -e .nightshift/go-{name} ]; do sleep 0.05; done'),
      },
    });
    const made = { project, shift };
    const page = pageIn(made);
    const run = shift.launch();
    await until(() => shift.column('work').join() === 'in_progress,in_progress,failed', 'two that run');
    const act = async (action: Action) => (await page.act({ shift: 'night', action })).effect;
    expect(await act({ verb: 'pause' })).toBe('night is paused.');
    expect((await page.shift('night')).status.paused).not.toBeNull();
    expect(await act({ verb: 'resume' })).toBe('night continues.');
    const rows = { items: [await itemAt(made, 2), await itemAt(made, 3)] };
    const dry = await page.act({ shift: 'night', action: { verb: 'withdraw', rows }, isDry: true });
    expect(dry.command).toBe('nightshift table night edit work failed --row 2');
    expect(await act({ verb: 'withdraw', rows })).toBe('Withdrew 1 item.');
    const retry = { verb: 'retry', rows: { items: [await itemAt(made, 3)] } } as const;
    const reset = await page.act({ shift: 'night', action: retry });
    expect(reset).toEqual({
      command: 'nightshift table night reset --failed --row 3',
      effect: 'Reset 1 item-task to todo.',
    });
    await until(() => shift.journal().some(({ type }) => type === 'item:withdrawn'), 'the run to notice');
    await expect(page.act({ shift: 'night', action: { verb: 'start' } })).rejects.toMatchObject({
      code: 'already-running',
    });
    shift.tableText = `${shift.tableText}"`;
    expect(await act({ verb: 'stop' })).toBe('The run of night ends when running items have finished.');
    shift.tableText = shift.tableText.slice(0, -1);
    project.write('.nightshift/go-ant', '');
    await run.ended;
    expect(shift.column('work').slice(0, 2)).toEqual(['done', 'failed']);
    expect(await act({ verb: 'stop' })).toBe('night is not running: there was nothing to stop.');
  });

  test('X8 X6 never starts agents with a model without a limit', async () => {
    const project = new Project();
    project.write('bin/claude', '#!/bin/sh\nexit 1\n');
    chmodSync(project.path('bin/claude'), 0o755);
    const shift = project.shift('night', {
      settings: { agent: 'claude', patience: '1ms' },
      table: 'name,work\nant,todo\nbee,failed\n',
      tasks: { work: task({ steps: '1. Do {name}', validation: '- {name} is done' }) },
    });
    const made = { project, shift, env: { PATH: `${project.path('bin')}:${process.env.PATH}` } };
    const page = pageIn(made);
    const rows = { items: [await itemAt(made, 2)] };
    for (const action of [{ verb: 'start' }, { verb: 'retry', rows }] as const) {
      expect(await page.act({ shift: 'night', action, isDry: true })).toMatchObject({ needsLimit: true });
      await expect(page.act({ shift: 'night', action })).rejects.toThrow('it needs a limit');
      const limited = { ...action, maxCost: '3' };
      expect(await page.act({ shift: 'night', action: limited, isDry: true })).not.toHaveProperty('needsLimit');
      const wrong = page.act({ shift: 'night', action: { ...action, maxCost: 'much' } });
      await expect(wrong).rejects.toMatchObject({ code: 'usage' });
    }
    expect(project.exists('.nightshift/night/.engine/journal.jsonl')).toBe(false);
    expect(shift.column('work')).toEqual(['todo', 'failed']);
  });

  test('X8 X6 asks for a higher limit if the one on cost is used up, also to retry', async () => {
    const project = new Project();
    const shift = project.shift('night', {
      settings: { attempts: 1, 'max-cost': 1 },
      table: 'name,work\nant,todo\nbee,todo\n',
      tasks: { work: agentTask() },
    });
    const usage = { input_tokens: 1, output_tokens: 1, cost_usd: 2 };
    project.behave({ 'dev:ant': { report: { overall_status: 'FAILED (step 1)', usage } } });
    await shift.start();
    expect(shift.column('work')).toEqual(['failed', 'todo']);
    const page = pageIn({ project, shift });
    for (const action of [{ verb: 'start' }, { verb: 'retry' }] as const) {
      const { effect, needsLimit } = await page.act({ shift: 'night', action, isDry: true });
      expect([effect, needsLimit]).toEqual(['Nothing would run: max-cost is used up: $2.00 of $1.00.', true]);
      await expect(page.act({ shift: 'night', action })).rejects.toThrow('it needs a limit');
      const low = await page.act({ shift: 'night', action: { ...action, maxCost: '1.5' }, isDry: true });
      expect(low.needsLimit).toBe(true);
      const enough = await page.act({ shift: 'night', action: { ...action, maxCost: '5' }, isDry: true });
      expect(enough).not.toHaveProperty('needsLimit');
    }
  });

  test('X8 D5 is refused from inside an agent, and where it makes no sense', async () => {
    const made = await failures();
    const rows = { items: [await itemAt(made, 1)] };
    const before = remains(made.shift);
    const inside = pageIn({
      ...made,
      env: { NIGHTSHIFT_KEY: 'k', NIGHTSHIFT_SHIFT_DIR: made.project.path(made.shift.folder) },
    });
    await expect(inside.act({ shift: 'night', action: { verb: 'reset', rows } })).rejects.toMatchObject({
      code: 'inside-agent',
    });
    const page = pageIn(made);
    const refused = (action: Action) => page.act({ shift: 'night', action }).then(String, ({ code }) => code);
    expect(await refused({ verb: 'retry', rows })).toBe('nothing-to-do');
    expect(await refused({ verb: 'withdraw', rows })).toBe('nothing-to-do');
    expect(await refused({ verb: 'deliver', rows })).toBe('nothing-to-do');
    expect(await refused({ verb: 'reset', rows: { matching: { ...ALL, search: 'nowhere' } } })).toBe('nothing-to-do');
    expect(await refused({ verb: 'reset', rows, task: 'gone' })).toBe('not-found');
    expect(await refused({ verb: 'lesson', decision: 'accept', ids: ['L9'] })).toBe('usage');
    expect(await refused({ verb: 'restore', task: 'work', version: 9 })).toBe('not-found');
    expect(remains(made.shift)).toEqual(before);
  });
});
