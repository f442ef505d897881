import { mkdirSync, renameSync } from 'node:fs';
import { expect, test } from 'vitest';
import { agentTask, type Ended, Project, processesOf, type ShiftHandle, shellTask, until } from '../harness.ts';

const names = (count: number) => Array.from({ length: count }, (_, i) => `item${i + 1}`);
const table = (rows: readonly string[], tasks = ['work']) =>
  `name,${tasks.join(',')}\n${rows.map((name) => `${name},${tasks.map(() => 'todo').join(',')}\n`).join('')}`;
const ofType = ({ events }: Pick<Ended, 'events'>, type: string) => events.filter((event) => event.type === type);
const sizes = (ended: Ended) => ofType(ended, 'batch:claimed').map(({ size, indices }) => [size, indices.length]);
const setting = (shift: ShiftHandle, key: string) => new RegExp(`^- ${key}: (.*)$`, 'm').exec(shift.manager)?.[1];
/** Fails for the rows whose cell `name` begins with `bad`, at once and for good. */
const FRAGILE = shellTask('case {name} in bad*) exit 1;; esac');

test('M1 reads the manifest, the tasks and .env again before every batch', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table: table(names(2)),
    tasks: { work: agentTask('1. Do {name} as {ENV:HOW}') },
    env: 'HOW=slowly\n',
  });
  project.behave({ 'dev:item1': { sh: 'touch started; while [ ! -e go ]; do sleep 0.05; done' } });
  const running = shift.launch();
  await until(() => project.exists('started'), 'the first dev');
  project.write('more.md', shellTask('echo more >> log-{name}', 'true', '- agent: shell'));
  const edits = [
    await shift.edit('env', () => 'HOW=quickly\n'),
    await shift.edit('work', (text) => text.replace('1. Do', '1. Now do')),
    await project.run(['add-task', 'night', 'more', '--from', 'more.md']),
  ];
  expect(edits.map(({ code }) => code)).toEqual([0, 0, 0]);
  project.write('go', '');
  expect((await running.ended).code).toBe(0);
  const [first, second] = project.calls().filter((call) => call.role === 'dev' && !call.ended);
  expect(first.prompt).toContain('1. Do item1 as slowly');
  expect(second.prompt).toContain('1. Now do item2 as quickly');
  expect([project.read('log-item1'), project.read('log-item2')]).toEqual(['more\n', 'more\n']);
});

test('M1 a task that is added during a run is checked as at the start; one that can not be used is put back', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    table: 'name,work,more\na,todo,todo\nb,todo,todo\n',
    tasks: { work: shellTask('touch started; until [ -e go ]; do sleep 0.05; done', 'true', '- agent: shell') },
  });
  const running = shift.launch();
  await until(() => project.exists('started'), 'the first item');
  const before = shift.manager;
  project.write('more.md', shellTask('true', 'true', '- agent: nobody'));
  expect((await project.run(['add-task', 'night', 'more', '--from', 'more.md'])).code).toBe(0);
  await running.seen('run:warning', ({ message }) => message.includes('there is no agent "nobody" (task more)'));
  await until(() => shift.manager === before, 'the Task Order to be put back');
  project.write('go', '');
  expect((await running.ended).code).toBe(0);
  expect(shift.tableText).toBe('name,work,more\na,done,todo\nb,done,todo\n');
});

test('M2 without parallel: all tasks of a row in Task Order, then the next row; nothing beside it', async () => {
  const project = new Project();
  const step = 'test ! -e busy; touch busy; echo "$NIGHTSHIFT_TASK {name}" >> log; rm busy';
  const shift = project.shift('night', {
    settings: { agent: 'shell', 'current-batch-size': 4, 'max-batch-size': 'many' },
    table: table(names(3), ['zeta', 'alpha']),
    tasks: { zeta: shellTask(step), alpha: shellTask(step) },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(project.read('log')).toBe(
    names(3)
      .map((name) => `zeta ${name}\nalpha ${name}\n`)
      .join(''),
  );
  expect(sizes(ended)).toEqual(Array.from({ length: 6 }, () => [1, 1]));
  // P5: both fields are ignored and kept as they are.
  expect([setting(shift, 'current-batch-size'), setting(shift, 'max-batch-size')]).toEqual(['4', 'many']);
  expect(ofType(ended, 'run:warning')).toEqual([]);
});

test('M3 parallel: a batch is items of one task in row order, all at work at the same time', async () => {
  const project = new Project();
  // Nobody finishes before all of the batch have begun.
  const meet =
    'touch "here-$NIGHTSHIFT_TASK-{name}"; until [ "$(ls here-$NIGHTSHIFT_TASK-* | wc -l)" -ge 3 ]; do sleep 0.05; done';
  const shift = project.shift('night', {
    settings: { agent: 'shell', parallel: true, 'current-batch-size': 3, timeout: '30s' },
    table: 'name,first,second\na,done,todo\nb,todo,todo\nc,todo,todo\nd,todo,todo\n',
    tasks: { first: shellTask(meet), second: shellTask('true') },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  const batches = ofType(ended, 'batch:claimed').map(({ task, indices }) => [task, indices]);
  // `second` of row 1 is eligible from the start, and yet the first task that has an eligible item goes first.
  expect(batches).toEqual([
    ['first', [1, 2, 3]],
    ['second', [0, 1, 2, 3]],
  ]);
});

test('M2 M3 `order: rows` finishes rows before it begins others, also in a stream; --dry-run and a resume agree', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', parallel: true, order: 'rows', 'current-batch-size': 2, 'max-batch-size': 2 },
    table: 'name,first,second\na,done,todo\nb,todo,todo\nc,todo,todo\nd,todo,todo\n',
    tasks: { first: shellTask('true'), second: shellTask('true') },
  });
  const planned = async () => (await project.run(['start', '--dry-run'])).stdout;
  const batchesOf = (ended: Ended) => ofType(ended, 'batch:claimed').map(({ task, indices }) => [task, indices]);
  expect(await planned()).toContain('first: second, row 1\n');
  const begun = await shift.start(['--rows', '1:2']);
  expect(batchesOf(begun)).toEqual([
    ['second', [0]],
    ['first', [1]],
    ['second', [1]],
  ]);
  shift.tableText = 'name,first,second\na,done,done\nb,done,todo\nc,todo,todo\nd,todo,todo\n';
  expect(await planned()).toContain('first: second, row 2\n');
  shift.manager = shift.manager.replace('- order: rows', '- order: rows\n- dispatch: stream');
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(batchesOf(ended).slice(0, 2)).toEqual([
    ['second', [1]],
    ['first', [2]],
  ]);
  expect(batchesOf(ended).findIndex(([task, [row]]) => task === 'second' && row === 2)).toBeLessThan(4);
});

test('M4 P7 a failed item blocks its later tasks and nothing else; it never reaches qa', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { parallel: true },
    table: table(['good1', 'bad', 'good2'], ['first', 'second']),
    tasks: { first: agentTask(), second: agentTask() },
  });
  project.behave({ 'dev:bad': { exit: 1, stderr: 'no luck' } });
  const ended = await shift.start();
  expect(ended.code).toBe(3);
  expect(shift.rows().map(({ first, second }) => [first, second])).toEqual([
    ['done', 'done'],
    ['failed', 'todo'],
    ['done', 'done'],
  ]);
  expect(
    project.calls().filter(({ name, role, task }) => name === 'bad' && (role !== 'dev' || task !== 'first')),
  ).toEqual([]);
});

test('P1 P2 P3 P4 the size starts at 2, doubles from task to task, is never more than is eligible, and is written back', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', parallel: true },
    table: table(names(3), ['first', 'second']),
    tasks: { first: FRAGILE, second: FRAGILE },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(sizes(ended)).toEqual([
    [2, 2],
    [4, 1],
    [8, 3],
  ]);
  expect(ofType(ended, 'batch:finished').map(({ from, to, reason }) => [from, to, reason])).toEqual([
    [2, 4, 'all 2 done'],
    [4, 8, 'all 1 done'],
    [8, 16, 'all 3 done'],
  ]);
  expect(setting(shift, 'current-batch-size')).toBe('16');
});

test("P4 a person's value that was written during a batch is taken as it is, and adapted from then on", async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', parallel: true, 'current-batch-size': 2 },
    table: table(names(6)),
    tasks: { work: shellTask('[ {name} != item1 ] || { touch started; until [ -e go ]; do sleep 0.05; done; }') },
  });
  const running = shift.launch();
  await until(() => project.exists('started'), 'the first batch');
  shift.manager = shift.manager.replace('current-batch-size: 2', 'current-batch-size: 3');
  project.write('go', '');
  const ended = await running.ended;
  expect(sizes(ended)).toEqual([
    [2, 2],
    [3, 3],
    [6, 1],
  ]);
  expect(ofType(ended, 'batch:finished')[0]).toMatchObject({ from: 2, to: 3, reason: 'set by a person' });
  expect(setting(shift, 'current-batch-size')).toBe('12');
});

test('P5 a size that is not a positive integer is treated as omitted, with a warning', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', parallel: true, 'current-batch-size': '0', 'max-batch-size': 'lots' },
    table: table(names(3)),
    tasks: { work: FRAGILE },
  });
  const ended = await shift.start();
  expect(sizes(ended)).toEqual([
    [2, 2],
    [4, 1],
  ]);
  const warnings = ofType(ended, 'run:warning').map(({ message }) => message);
  for (const entry of ['current-batch-size: 0', 'max-batch-size: lots']) {
    expect(warnings.filter((message) => message.includes(`\`${entry}\``))).toHaveLength(1);
  }
});

test('P6 the life of a batch: all claimed, all devs, then qa one by one, lessons, size, Progress, report', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { parallel: true },
    table: table(names(2)),
    tasks: { work: agentTask() },
  });
  // T2: when a dev begins, both items are claimed in the table on disk.
  project.behave({
    dev: {
      sh: 'grep -c in_progress .nightshift/night/table.csv >> claimed',
      report: { recommendations: ['Be brief', 'Look twice'] },
    },
    manager: { report: { lessons: [{ text: 'Be brief', from: [1, 3] }], summary: 'brief' } },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(project.read('claimed').split('\n')[0]).toBe('2');
  const order = ended.events.map(({ type }) => type).filter((type) => /^(batch|dev|qa|steps|progress)/.test(type));
  expect(order).toEqual([
    ...['batch:claimed', 'dev:started', 'dev:started', 'dev:finished', 'dev:finished'],
    ...['qa:started', 'qa:finished', 'qa:started', 'qa:finished'],
    ...['steps:changed', 'batch:finished', 'progress'],
  ]);
  const calls = project.calls().map(({ role, ended: end }) => `${role}${end ? ' ended' : ''}`);
  expect(calls.slice(4)).toEqual(['qa', 'qa ended', 'qa', 'qa ended', 'manager', 'manager ended']);
});

test('P8 interrupted in the middle of a batch: qa is judged, in_progress goes back, the size and recommendations stay', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { parallel: true, 'current-batch-size': 3 },
    table: table(names(6)),
    tasks: { work: agentTask() },
  });
  project.behave({
    dev: { report: { recommendations: ['Look twice'] } },
    'dev:item3': { sleep: 60_000 },
  });
  const first = shift.spawn();
  await until(() => shift.column('work').filter((status) => status === 'qa').length === 2, 'two items at qa');
  first.kill('SIGKILL');
  await first.ended;
  project.behave({});
  const before = project.calls().length;
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(ofType(ended, 'run:started')[0]).toMatchObject({ recovered: 1, waiting: 2 });
  const later = project
    .calls()
    .slice(before)
    .filter((call) => !call.ended);
  expect(later.slice(0, 2).map(({ role, name }) => [role, name])).toEqual([
    ['qa', 'item1'],
    ['qa', 'item2'],
  ]);
  expect(
    later
      .filter(({ role }) => role === 'dev')
      .map(({ name }) => name)
      .sort(),
  ).toEqual(names(6).slice(2));
  expect(sizes(ended)[0]).toEqual([3, 3]);
  // The recommendations of the interrupted run were folded in before the first batch of this one.
  expect(ofType(ended, 'steps:changed')[0].lessons).toMatchObject([{ text: 'Look twice', rows: [1, 2] }]);
  expect(later.find(({ role }) => role === 'dev').prompt).toContain('2. Look twice');
});

test('M5 after each batch Progress is in manager.md, and the report has Progress and Compacted', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell', parallel: true },
    table: table(['a', 'bad', 'b']),
    tasks: { work: FRAGILE },
  });
  const running = project.launch(['start', 'night']);
  const { code, stdout } = await running.ended;
  expect(code).toBe(3);
  const reports = stdout.split('\n').filter((line) => /^(Progress|Compacted)/.test(line));
  expect(reports).toEqual(['Progress: 1/3 items. Compacted: false', 'Progress: 2/3 items. Compacted: false']);
  expect(shift.manager).toMatch(/- Total items: 3\n- Completed: 2\n- Failed: 1\n- Remaining: 0\n/);
});

test('M5 in sequential mode after each item; M6 an agent that lost context is reported, and the run goes on', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: table(names(3)), tasks: { work: agentTask() } });
  const progress: string[] = [];
  project.behave({
    dev: { sh: 'grep Completed .nightshift/night/manager.md >> progress' },
    'dev:item2': { report: { compacted: true }, sh: 'grep Completed .nightshift/night/manager.md >> progress' },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  progress.push(...project.read('progress').trim().split('\n'));
  expect(progress).toEqual(['- Completed: 0', '- Completed: 1', '- Completed: 2']);
  expect(ofType(ended, 'progress').map(({ done, total, compacted }) => [done, total, compacted])).toEqual([
    [1, 3, false],
    [2, 3, true],
    [3, 3, false],
  ]);
});

const LOSSES: [string, (shift: ShiftHandle) => void][] = [
  ['the name is another', (shift) => (shift.manager = shift.manager.replace('name: night', 'name: day'))],
  ['the name is gone', (shift) => (shift.manager = shift.manager.replace('- name: night\n', ''))],
  ['the Task Order is empty', (shift) => (shift.manager = shift.manager.replace('1. work\n', ''))],
  [
    'the folder is another',
    ({ project }) => {
      renameSync(project.path('.nightshift/night'), project.path('elsewhere'));
      for (const file of ['manager.md', 'table.csv', 'work.md'])
        project.write(`.nightshift/night/${file}`, project.read(`elsewhere/${file}`));
    },
  ],
  ['the folder is gone', ({ project }) => renameSync(project.path('.nightshift/night'), project.path('elsewhere'))],
];

test.each(LOSSES)(
  'M6 the manager cannot confirm its context (%s): Compacted: true, nothing claimed, exit 4',
  async (_, lose) => {
    const project = new Project();
    const shift = project.shift('night', { table: table(names(2)), tasks: { work: agentTask() } });
    project.behave({ '*': { exit: 75 } });
    const running = project.launch(['start', 'night']);
    // In the pause between two batches nothing is in flight.
    await until(() => running.stdout.includes('waiting'), 'the pause');
    lose(shift);
    const ended = await running.ended;
    const said = `${ended.stdout}\n${ended.stderr}`;
    expect(said).toContain("can't confirm what it works on");
    expect(/Compacted: .*/g[Symbol.match](ended.stdout)).toEqual(['Compacted: false', 'Compacted: true']);
    expect(ended.code).toBe(4);
    expect(project.calls().filter((call) => !call.ended)).toHaveLength(1);
    const folder = project.exists('elsewhere') ? 'elsewhere' : '.nightshift/night';
    expect(project.read(`${folder}/table.csv`)).toBe(table(names(2)));
  },
);

const DISPATCH: Record<string, Record<string, string | boolean | number>> = {
  'one by one': {},
  'a batch': { parallel: true },
  'a stream': { parallel: true, dispatch: 'stream' },
};

test.each(Object.keys(DISPATCH))(
  'M6 the folder is moved while items are in flight (%s): exit 4, agents are ended, it resumes elsewhere',
  async (way) => {
    const project = new Project();
    project.shift('night', {
      settings: { agent: 'shell', ...DISPATCH[way] },
      table: table(names(3)),
      tasks: { work: shellTask('echo x >> "$NIGHTSHIFT_SHIFT_DIR/../../begun"; [ -e go ] || sleep 600') },
    });
    const running = project.launch(['start', 'night', '--plain']);
    await until(() => project.exists('begun'), 'the first item');
    mkdirSync(project.path('other'));
    renameSync(project.path('.nightshift'), project.path('other/.nightshift'));
    const ended = await running.ended;
    expect(ended.stderr).not.toMatch(/bug|ENOENT/);
    expect([ended.code, ended.stdout]).toEqual([
      4,
      expect.stringMatching(/can't confirm what it works on: .* is gone/),
    ]);
    expect(ended.stdout).toContain('Compacted: true');
    expect(project.exists('.nightshift')).toBe(false);
    expect(processesOf(project.path('.nightshift/night'))).toEqual([]);
    const moved = project.read('other/.nightshift/night/table.csv');
    expect(moved).not.toMatch(/done|failed/);
    project.write('other/go', '');
    const next = await project.run(['start', 'night', '--json'], { cwd: project.path('other') });
    expect([next.code, next.events[0].recovered]).toEqual([0, moved.match(/in_progress/g)?.length]);
  },
);

const REMOVALS = {
  'its dev removes it': 'rm -rf "$NIGHTSHIFT_SHIFT_DIR"',
  // A file that is written again meanwhile keeps the folder there.
  'its dev removes all but the folder itself': 'rm -rf "$NIGHTSHIFT_SHIFT_DIR"/*; false',
  'its dev puts another in its place': 'mv "$NIGHTSHIFT_SHIFT_DIR" old; cp -r old "$NIGHTSHIFT_SHIFT_DIR"',
  'its dev removes the project': 'rm -rf "$(dirname "$(dirname "$NIGHTSHIFT_SHIFT_DIR")")"',
};

test.each(Object.entries(REMOVALS))('M6 %s: exit 4, nothing more is claimed', async (_, sh) => {
  for (const settings of Object.values(DISPATCH)) {
    const project = new Project();
    const tasks = { work: shellTask(`echo x >> "$TMPDIR/begun"\n${sh}`) };
    project.shift('night', {
      settings: { agent: 'shell', 'max-batch-size': 1, ...settings },
      table: table(names(3)),
      tasks,
    });
    const outside = new Project();
    const ended = await project.run(['start', 'night', '--plain'], { env: { TMPDIR: outside.root } });
    expect(ended.stderr).not.toMatch(/bug|ENOENT/);
    expect(ended.code, `${ended.stdout}${ended.stderr}`).toBe(4);
    expect(ended.stdout).toContain("can't confirm what it works on");
    expect(outside.read('begun')).toBe('x\n');
  }
});

test.each(['batch', 'stream'])(
  'M6 in flight (%s), another name or an empty Task Order ends nothing',
  async (dispatch) => {
    const project = new Project();
    const settings = { parallel: true, dispatch, 'current-batch-size': 2, 'disable-self-improvement': true };
    const shift = project.shift('night', { settings, table: table(names(4)), tasks: { work: agentTask() } });
    project.behave({ 'dev:item1': { sh: 'until [ -e .nightshift/go ]; do sleep 0.05; done' } });
    const running = shift.launch();
    const before = await until(() => project.calls().some(({ name }) => name === 'item1') && shift.manager, 'item 1');
    shift.manager = before.replace('name: night', 'name: day').replace('1. work\n', '');
    const { what } = await running.seen('edit:reverted');
    expect(what).toBe('name: night -> day; Task Order: work -> (empty)');
    project.write('.nightshift/go', '');
    const ended = await running.ended;
    expect([ended.code, shift.column('work')]).toEqual([0, Array(4).fill('done')]);
    expect(ofType(ended, 'progress').every(({ compacted }) => compacted === false)).toBe(true);
  },
);

test('M6 a task at hand that a person replaced by a valid one is no loss', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work,other\na,todo,todo\nb,todo,todo\n',
    tasks: { work: shellTask('touch started; until [ -e go ]; do sleep 0.05; done') },
  });
  const running = shift.launch();
  await until(() => project.exists('started'), 'the first item');
  project.write('.nightshift/night/other.md', shellTask('true'));
  expect((await shift.edit('manager', (text) => text.replace('1. work', '1. other'))).code).toBe(0);
  await running.seen('document:accepted');
  project.write('go', '');
  const ended = await running.ended;
  expect(ended.code).toBe(0);
  expect(ofType(ended, 'progress').every(({ compacted }) => compacted === false)).toBe(true);
  expect(shift.column('other')).toEqual(['done', 'done']);
});

test('M7 the summary: counts, failures with attempts grouped by reason, time, tokens and cost', async () => {
  const project = new Project();
  project.shift('night', {
    settings: { parallel: true },
    table: table(['alpha', 'bravo', 'charlie', 'delta']),
    tasks: { work: agentTask() },
  });
  const usage = { input_tokens: 1000, output_tokens: 20, cost_usd: 0.25 };
  const fails = (name: string) => ({
    report: { overall_status: 'FAILED (step 1)', error: `no file for ${name}`, usage },
  });
  project.behave({ dev: { report: { usage } }, 'dev:bravo': fails('bravo'), 'dev:delta': fails('delta') });
  const { code, stdout } = await project.run(['start', 'night']);
  expect(code).toBe(3);
  expect(stdout).toContain('night: 4 items, 2 completed, 2 failed, 0 remaining');
  expect(stdout).toContain(
    'failed: work, 2 rows after 3 attempts\n  FAILED (step 1): no file for bravo\n  rows 2 bravo, 4 delta\n',
  );
  expect(stdout).toMatch(/^this run: .*, 8000 tokens in, 160 out, \$2\.00$/m);
  expect(stdout).not.toContain('nightshift archive');
});

test('M7 already complete, no items, no tasks: three messages, and no agent is started', async () => {
  const project = new Project();
  const shift = project.shift('night', { table: table(['a']), tasks: { work: agentTask() } });
  project.behave({ dev: { report: { recommendations: ['Only one row says so'] } }, manager: { report: null } });
  const first = await project.run(['start', 'night']);
  expect(first.stdout).toContain('`nightshift archive night`');
  const calls = project.calls().length;
  const complete = await project.run(['start', 'night']);
  expect([complete.code, complete.stdout]).toEqual([0, expect.stringContaining('Already complete')]);
  expect(complete.stdout).toContain('`nightshift archive night`');
  shift.tableText = 'name,work\n';
  const empty = await project.run(['start', 'night']);
  expect([empty.code, empty.stderr]).toEqual([2, expect.stringContaining('night has no items')]);
  shift.manager = shift.manager.replace('1. work\n', '');
  const idle = await project.run(['start', 'night']);
  expect([idle.code, idle.stderr]).toEqual([2, expect.stringContaining('night has no tasks')]);
  expect(project.calls()).toHaveLength(calls);
});
