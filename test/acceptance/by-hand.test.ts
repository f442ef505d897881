import { execFileSync } from 'node:child_process';
import { utimesSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { close, commandIn, fail, type Opened, open, pass, write } from '../hand.ts';
import { agentTask, Project, type ShiftHandle, shellTask } from '../harness.ts';

const TABLE = 'name,draft,check_it\na,todo,todo\nb,todo,todo\nc,todo,todo\nd,todo,todo\n';

function newShift(settings: Record<string, string | number | boolean> = {}): ShiftHandle {
  return new Project().shift('site', {
    settings: { parallel: true, ...settings },
    table: TABLE,
    tasks: { draft: agentTask('1. Draft {name}', '- {name} reads well'), check_it: agentTask() },
  });
}

test('O3 a close where no batch is open says the command that opens one, in full', async () => {
  const { code, stderr } = await close(newShift());
  expect([code, stderr]).toEqual([2, 'error: no batch of site is open\n  `nightshift batch open site` opens one\n']);
});

test('M7 a batch is refused where there is no task or no item, in the words of start', async () => {
  const shift = newShift();
  const both = async (message: string) => {
    for (const args of [
      ['batch', 'open', 'site'],
      ['start', 'site'],
    ]) {
      const { code, stderr } = await shift.project.run(args);
      expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    }
  };
  shift.tableText = 'name,draft,check_it\n';
  await both('error: site has no items');
  shift.manager = shift.manager.replace(/## Task Order[^#]*/, '## Task Order\n\n');
  await both('error: site has no tasks');
});

test('O3 O4 L8 batch by hand: claimed in the table, prompts in files, own status by token, size and Progress at the close', async () => {
  const shift = newShift();
  const opened = await open(shift);
  expect(opened).toMatchObject({ left: true, task: 'draft', size: 2, items: [{ index: 0 }, { index: 1 }] });
  expect(shift.column('draft')).toEqual(['in_progress', 'in_progress', 'todo', 'todo']);
  const [first, second] = opened.items as [Opened['items'][number], Opened['items'][number]];
  expect(shift.project.read(first.prompt)).toContain('1. Draft a');
  expect(shift.project.exists(first.qaPrompt!)).toBe(false);

  const status = await shift.project.run(['status', 'site']);
  expect(status.stdout).toMatch(/a batch is open since .*: draft, 2 items/);
  const overview = (await shift.project.run([])).stdout;
  expect(overview).toMatch(/^ {2}site {2}0\/4 completed, 0 failed, a batch is open$/m);
  expect(overview).toMatch(/^ {2}nightshift batch close site +closes the open batch/m);
  expect(overview).not.toContain('nightshift start');
  const early = await close(shift);
  expect(early.code).toBe(2);
  expect(early.stderr).toMatch(/row 1 is in_progress \(dev, .*row-1-dev.md\); row 2 is in_progress/);

  await pass(shift, first, '--recommend', 'Look at the examples first');
  expect(shift.project.read(first.qaPrompt!)).toContain('a reads well');
  await fail(shift, second, 'there is no ink');
  expect(shift.column('draft')).toEqual(['done', 'failed', 'todo', 'todo']);

  const closed = await close(shift);
  expect(closed.stdout).toBe(
    'Batch of draft closed: 1 done, 1 failed, 0 given back.\nProgress: 0/4 items, 1/8 item-tasks. Compacted: false\nWork is left: `nightshift batch open site` opens the next batch.\n',
  );
  expect(shift.manager).toContain('- current-batch-size: 1');
  expect(shift.manager).toContain('- Failed: 1');
  expect((await shift.project.run(['status', 'site'])).stdout).toContain('there is no ink');

  // What was learned reaches the next batch (rule L5).
  const lesson = ['lesson', 'site', 'draft'];
  expect((await shift.project.run(lesson)).stdout).toContain('- recommendation 1, row 1: Look at the examples first');
  const change = { lessons: [{ text: 'Look at the examples.', from: [1], same_as: null, after: 0 }], summary: 's' };
  expect(await shift.project.run([...lesson, JSON.stringify(change)])).toMatchObject({ code: 0, stderr: '' });
  const next = await open(shift);
  expect(next).toMatchObject({ size: 1, items: [{ index: 2 }] });
  const prompt = shift.project.read(next.items[0]!.prompt);
  expect(prompt).toContain('1. Look at the examples.\n2. Draft c');
  expect(prompt).toMatch(/<lessons-\w+>\nL1: step 1\n/);
  // What it says about the lesson counts by the same rules.
  await pass(shift, next.items[0]!, '--harmed', 'L1: there are none', '--helped', 'L7');
  const votes = shift.journal().flatMap((event) => event.votes ?? []);
  expect(votes).toEqual([{ lesson: 'L1', effect: 'harmed', reason: 'there are none' }]);
  await close(shift);
  expect(shift.manager).toContain('- current-batch-size: 2');
  const last = await open(shift);
  await pass(shift, last.items[0]!, '--harmed', 'L1: they are gone');
  expect((await close(shift)).stdout).toContain('\nLesson L1 is retired now.\n');
  expect(shift.task('draft')).toContain('## Steps\n\n1. Draft {name}\n\n## Validation');
});

test('O4 T1 T8 a token writes only its own role, item and column; nobody writes a status without one', async () => {
  const shift = newShift();
  const { items } = await open(shift);
  const [first] = items as [Opened['items'][number]];
  const command = commandIn(shift, first.prompt, 'qa');
  const table = shift.tableText;
  const refused = async (args: string[], why: string, code = 2) => {
    const ended = await shift.project.run(args);
    expect(ended.stderr).toContain(why);
    expect(ended.code).toBe(code);
    expect(shift.tableText).toBe(table);
  };
  const changed = (at: number, to: string) => command.map((word, i) => (i === at ? to : word));
  await refused(changed(5, 'done'), 'a dev writes qa or failed');
  await refused(changed(5, 'todo'), 'a dev writes qa or failed');
  await refused(changed(4, '1'), 'this token is for draft of row 1 (index 0)');
  await refused(changed(3, 'check_it'), 'this token is for draft of row 1 (index 0)');
  await refused(changed(7, 'f00'), 'the token is not the current one');
  await refused(command.slice(0, 6), 'a batch of site is open', 5);
  await refused(['table', 'site', 'reset', '--index', '0'], 'a batch of site is open', 5);

  await write(shift, first.prompt, 'qa');
  expect(shift.column('draft')[0]).toBe('qa');
  const again = await shift.project.run(command);
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('its status is qa, not in_progress')]);
  const qa = commandIn(shift, first.qaPrompt!, 'done');
  expect(qa[7]).not.toBe(command[7]);
  const asDev = qa.map((word, i) => (i === 5 ? 'qa' : word));
  expect((await shift.project.run(asDev)).stderr).toContain('a qa writes done or failed');
});

test('T6 start and another batch are refused while a batch is open and fresh; a stale one is taken over, and its tokens are void', async () => {
  const shift = newShift();
  const { items } = await open(shift);
  const late = commandIn(shift, items[0]!.prompt, 'qa');
  for (const args of [
    ['start', 'site'],
    ['batch', 'open', 'site'],
  ]) {
    const ended = await shift.project.run(args);
    expect([ended.code, ended.stderr]).toEqual([5, expect.stringContaining('a batch of site is open since')]);
  }
  const taken = await open(shift, '--take-over');
  expect(taken).toMatchObject({ recovered: 2, items: [{ index: 0 }, { index: 1 }] });
  expect((await shift.project.run(late)).stderr).toContain('the token is not the current one');
  await pass(shift, taken.items[1]!);

  const file = `${shift.folder}/.engine/batch.json`;
  const { lease, ...batch } = JSON.parse(shift.project.read(file));
  expect(lease).toEqual({ owner: 'a terminal', expiresAt: expect.closeTo(Date.now() + 30 * 60_000, -5) });
  const isStale = async () => JSON.parse((await shift.project.run(['status', 'site', '--json'])).stdout).batch.isStale;
  expect(await isStale()).toBe(false);
  shift.project.write(file, JSON.stringify({ ...batch, lease: { ...lease, expiresAt: Date.now() - 1 } }));
  expect(await isStale()).toBe(true);
  // As files were written before there were leases: the time of change counts.
  shift.project.write(file, JSON.stringify(batch));
  expect(await isStale()).toBe(false);
  const long = (Date.now() - 31 * 60_000) / 1000;
  utimesSync(shift.project.path(file), long, long);
  expect((await shift.project.run(['status', 'site'])).stdout).toContain('it gave no sign of life');
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(ended.events.find(({ type }) => type === 'run:started')).toMatchObject({ recovered: 1 });
  expect(shift.column('check_it')).toEqual(['done', 'done', 'done', 'done']);
});

test('P8 T5 D5 what is at qa is judged first; a status that nobody with a token wrote is put back', async () => {
  const shift = newShift();
  const first = await open(shift);
  await write(shift, first.items[0]!.prompt, 'qa');
  // As an agent with a shell would forge it.
  shift.tableText = shift.tableText.replace('b,in_progress', 'b,done');
  const refused = await close(shift);
  expect(refused.stderr).toContain('row 2 is done, but was not written with its token');
  expect((await close(shift, '--give-back')).stdout).toContain('0 done, 0 failed, 2 given back');
  expect(shift.column('draft').slice(0, 2)).toEqual(['qa', 'todo']);
  expect(shift.journal().some(({ type }) => type === 'edit:reverted')).toBe(true);

  const second = await open(shift);
  expect(second.items).toMatchObject([{ index: 0, role: 'qa' }]);
  expect(await write(shift, second.items[0]!.prompt, 'done')).toMatchObject({ code: 0 });
  await close(shift);
  expect(shift.column('draft')[0]).toBe('done');
  expect(shift.manager).toContain('- parallel: true');
});

test('X2 D3 checks decide here too: a failed one is an attempt, the third is the last; without a question for qa they are the verdict', async () => {
  const project = new Project();
  const shift = project.shift('site', {
    settings: { agent: 'shell' },
    table: 'name,draft,url\na,todo,\nb,todo,\n',
    tasks: { draft: shellTask('true', 'test -f {name}.txt', '- outputs: url') },
  });
  const first = (await open(shift)).items[0]!;
  const attempt = () => write(shift, first.prompt, 'qa', '--captured', 'url=http://a');
  for (const [flags, message] of [
    [[], 'the declared output `url` is missing'],
    [['--captured', 'ulr=x'], 'declares the outputs url, not ulr'],
  ] as const) {
    const slip = await write(shift, first.prompt, 'qa', ...flags);
    expect([slip.code, slip.stderr]).toEqual([2, expect.stringContaining(message)]);
  }
  const second = await attempt();
  expect([second.code, second.stderr]).toEqual([3, expect.stringContaining('attempts left: 2')]);
  project.write('a.txt', '');
  expect((await attempt()).stdout).toContain('no qa is needed');
  expect(shift.rows()[0]).toEqual({ name: 'a', draft: 'done', url: 'http://a' });
  await close(shift);

  const last = (await open(shift)).items[0]!;
  for (let i = 0; i < 3; i++) {
    expect((await write(shift, last.prompt, 'qa', '--captured', 'url=http://b')).code).toBe(3);
  }
  expect(shift.column('draft')).toEqual(['done', 'failed']);
  const closed = await close(shift);
  expect(closed.stdout).toContain('Nothing is left to do.');
  const nothing = await project.run(['batch', 'open', 'site']);
  expect([nothing.code, nothing.stdout]).toEqual([3, 'Nothing is left to do: finished, with failed items.\n']);
});

test('O3 Q3 qa-retries counts as 0: batch open says so, and a verdict is final', async () => {
  const shift = newShift();
  expect((await open(shift)).notes).toBeUndefined();
  await shift.project.run(['batch', 'close', 'site', '--give-back']);
  shift.manager = shift.manager.replace('## Task Order', '- qa-retries: 2\n\n## Task Order');
  const { items, notes } = await open(shift);
  expect(notes).toEqual(['qa-retries: 2 counts as 0 in batches by hand: an item that a qa fails is failed']);
  await write(shift, items[0]!.prompt, 'qa');
  await write(shift, items[0]!.qaPrompt!, 'failed', '--reason', 'no');
  expect(shift.column('draft')[0]).toBe('failed');
});

test('O3 W1 a shift with workspaces has no batches by hand: all agents would work in one folder', async () => {
  const shift = newShift();
  shift.manager = shift.manager.replace('## Task Order', '- workspace: worktree\n\n## Task Order');
  const { code, stderr } = await shift.project.run(['batch', 'open', 'site']);
  expect([code, stderr]).toEqual([
    2,
    expect.stringMatching(
      /which only a run can make.*\n.*manager\.md:\d+\n.*`nightshift start site`.*`\/nightshift-start site background`/,
    ),
  ]);
  expect(new Set(shift.column('draft'))).toEqual(new Set(['todo']));
});

test('D5 a check that was weakened in flight is put back before it is run, and so is one that qa is asked about', async () => {
  const project = new Project();
  const shift = project.shift('site', {
    settings: { agent: 'shell' },
    table: 'name,draft\na,todo\n',
    tasks: { draft: shellTask('true', 'test -f {name}.txt') },
  });
  const [item] = (await open(shift)).items as [Opened['items'][number]];
  const before = shift.task('draft');
  project.write(`${shift.folder}/draft.md`, before.replace('test -f {name}.txt', 'true'));
  const refused = await write(shift, item.prompt, 'qa');
  expect([refused.code, refused.stderr]).toEqual([3, expect.stringContaining('attempts left: 2')]);
  expect(shift.task('draft')).toBe(before);
  expect(shift.column('draft')).toEqual(['in_progress']);
  expect(shift.journal().find(({ type }) => type === 'edit:reverted')).toMatchObject({ task: 'draft' });
});

test('L1 L3 a lesson needs a recommendation of an item that passed', async () => {
  const shift = newShift();
  const { items } = await open(shift);
  await write(shift, items[0]!.prompt, 'qa', '--recommend', 'Write shorter sentences');
  const lesson = (text: string, from = 1) => {
    const answer = { lessons: [{ text, from: [from], same_as: null, after: 1 }], summary: 's' };
    return shift.project.run(['lesson', 'site', 'draft', JSON.stringify(answer)]);
  };
  const early = await lesson('Write shorter sentences.');
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining('there are no new recommendations')]);
  await write(shift, items[0]!.qaPrompt!, 'done');
  const before = shift.task('draft');
  const lost = await lesson('Write shorter sentences.', 2);
  expect([lost.code, lost.stderr]).toEqual([2, expect.stringContaining('refused: there is no recommendation 2')]);
  expect((await shift.project.run(['lesson', 'site', 'draft', 'no json'])).code).toBe(2);
  expect(shift.task('draft')).toBe(before);
  const folded = await lesson('Write shorter sentences.');
  expect([folded.code, folded.stdout]).toEqual([0, 'L1 firm: Write shorter sentences.\n']);
  expect(shift.task('draft')).toContain('2. Write shorter sentences.');
});

test('L5 with disable-self-improvement, lesson lists nothing and changes nothing', async () => {
  const shift = newShift({ 'disable-self-improvement': true });
  const { items } = await open(shift);
  await pass(shift, items[0]!, '--recommend', 'Write shorter sentences');
  const before = shift.task('draft');
  const lesson = ['lesson', 'site', 'draft'];
  // A manager goes on after this, and stops at an error.
  expect(await shift.project.run(lesson)).toMatchObject({
    code: 0,
    stdout: 'The Steps stay as they are: site has `lessons: off`.\n',
  });
  const change = JSON.stringify({ lessons: [{ text: 'Write shorter sentences.', from: [1] }], summary: 's' });
  expect(await shift.project.run([...lesson, change])).toMatchObject({ code: 2 });
  expect(shift.task('draft')).toBe(before);
});

test('T3 flock and a program that replaces the file as qsv does take part: no update is lost', async () => {
  const shift = newShift({ 'max-batch-size': 4, 'current-batch-size': 4 });
  const { items } = await open(shift);
  const table = shift.project.path(shift.folder, 'table.csv');
  const editor = resolve('test/fixtures/replace-edit.mjs');
  const edits = items.map(async (item) => {
    expect(await write(shift, item.prompt, 'qa')).toMatchObject({ code: 0, stderr: '' });
  });
  for (let i = 0; i < 4; i++) {
    execFileSync('flock', ['-x', `${table}.lock`, process.execPath, editor, table, 'name', String(i), `edited-${i}`]);
  }
  await Promise.all(edits);
  expect(shift.rows().map(({ name, draft }) => [name, draft])).toEqual([0, 1, 2, 3].map((i) => [`edited-${i}`, 'qa']));
});
