import { expect, test } from 'vitest';
import { agentTask, type Ended, Project, type ShiftHandle, shellTask, until } from '../harness.ts';

const names = (count: number) => Array.from({ length: count }, (_, i) => `item${i + 1}`);
const table = (rows: readonly string[], tasks = ['work']) =>
  `name,${tasks.join(',')}\n${rows.map((name) => `${name},${tasks.map(() => 'todo').join(',')}\n`).join('')}`;
const ofType = ({ events }: Pick<Ended, 'events'>, type: string) => events.filter((event) => event.type === type);
const changes = (ended: Pick<Ended, 'events'>) =>
  ofType(ended, 'concurrency:changed').map(({ from, to, reason }) => [from, to, reason]);
const setting = (shift: ShiftHandle, key: string) => new RegExp(`^- ${key}: (.*)$`, 'm').exec(shift.manager)?.[1];
const begun = (project: Project, role: string, name?: string) =>
  project.calls().filter((call) => call.role === role && !call.ended && (name === undefined || call.name === name));
const atWork = (project: Project, name: string, role = 'dev') =>
  until(() => begun(project, role, name).length > 0, `the ${role} of ${name}`);
const done = (shift: ShiftHandle, name: string) => shift.rows().find((row) => row.name === name)?.work === 'done';

/** Works until the test says go: to all, or to this one. */
const waits = { sh: 'until [ -e go ] || [ -e "go-$NIGHTSHIFT_INDEX" ]; do sleep 0.05; done' };
/** Notes how many items are in flight by the table, whoever works on them. */
const COUNT = 'grep -cE ",(in_progress|qa)" "$NIGHTSHIFT_TABLE" >> .nightshift/in-flight';
const FRAGILE = shellTask('case {name} in bad*) exit 1;; esac');

type Settings = Record<string, string | number | boolean>;

function stream(
  project: Project,
  rows: readonly string[],
  settings: Settings = {},
  tasks: Record<string, string> = { work: agentTask() },
): ShiftHandle {
  return project.shift('night', {
    settings: { parallel: true, dispatch: 'stream', 'disable-self-improvement': true, ...settings },
    table: table(rows, Object.keys(tasks)),
    tasks,
  });
}

/** The most calls of the agent at the same time, in the order in which they began and ended. */
function overlap(project: Project): number {
  let [now, most] = [0, 0];
  for (const call of project.calls()) {
    now += call.ended ? -1 : 1;
    most = Math.max(most, now);
  }
  return most;
}

/** Edits the table as an editor does: the lines, the header first. */
function edit(shift: ShiftHandle, change: (lines: string[]) => string[]): void {
  shift.tableText = `${change(shift.tableText.trimEnd().split('\n')).join('\n')}\n`;
}

/** Changes the line of one row. */
const editRow = (shift: ShiftHandle, row: number, from: string, to: string): undefined =>
  void edit(shift, (lines) => lines.map((line, i) => (i === row ? line.replace(from, to) : line)));

const ALL_THREE = 'touch .nightshift/here-$$; until [ $(ls .nightshift | grep -c here-) -ge 3 ]; do sleep 0.05; done';

test('X7 qa runs beside devs, in slots of the same limit, which is used and never exceeded', async () => {
  const project = new Project();
  const shift = stream(project, names(5), { 'current-batch-size': 3, 'max-batch-size': 3, timeout: '60s' });
  // The dev of item 2 ends only after the qa of item 1 has begun, which waits for it in turn.
  project.behave({
    dev: { sh: COUNT },
    qa: { sh: COUNT },
    // The limit is used: three are there at once, however slow the machine is.
    'dev:item1': { sh: `${COUNT}; ${ALL_THREE}` },
    'dev:item2': { sh: `${COUNT}; ${ALL_THREE}; until [ -e .nightshift/judging ]; do sleep 0.05; done; touch met` },
    'dev:item3': { sh: `${COUNT}; ${ALL_THREE}` },
    'qa:item1': { sh: `${COUNT}; touch .nightshift/judging; until [ -e met ]; do sleep 0.05; done` },
  });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(overlap(project)).toBe(3);
  const inFlight = project.read('.nightshift/in-flight').trim().split('\n').map(Number);
  expect([inFlight.length, Math.max(...inFlight)]).toEqual([10, 3]);
  expect(changes(ended)).toEqual([]);
});

test('X7 the concurrency doubles after as many that are done, up to the cap; each change has its reason and is written back', async () => {
  const project = new Project();
  const shift = stream(project, names(7), { agent: 'shell', 'max-batch-size': 4 }, { work: FRAGILE });
  const { code, stdout } = await project.run(['start', 'night']);
  expect(code).toBe(0);
  const told = { events: shift.journal() };
  expect(changes(told)).toEqual([[2, 4, '2 of 2 done']]);
  expect(ofType(told, 'batch:claimed')[0]).toMatchObject({ size: 2, indices: [0, 1] });
  expect(setting(shift, 'current-batch-size')).toBe('4');
  expect(stdout).toMatch(/^night: 7 items, .*, as a stream$/m);
  expect(stdout).toMatch(/^concurrency 2 -> 4 \(2 of 2 done\)$/m);
  expect(stdout.match(/^Progress: 7\/7 items\. Compacted: false$/gm)).toHaveLength(1);
});

test("X7 P4 a person's current-batch-size is taken as it is, up and down; max-batch-size caps from then on", async () => {
  const project = new Project();
  const shift = stream(project, names(8), { 'current-batch-size': 2 });
  project.behave({ dev: waits });
  const running = shift.launch();
  await atWork(project, 'item2');
  shift.manager = shift.manager.replace('current-batch-size: 2', 'current-batch-size: 5');
  project.write('go-0', '');
  // One has ended, five are at work.
  await atWork(project, 'item6');
  expect(changes(running)).toEqual([[2, 5, 'set by a person']]);
  await until(() => setting(shift, 'current-batch-size') === '5', 'the value to stay');
  shift.manager = shift.manager.replace('- current-batch-size: 5', '- current-batch-size: 3');
  for (const index of [1, 2]) project.write(`go-${index}`, '');
  await until(() => done(shift, 'item2') && done(shift, 'item3'), 'items 2 and 3');
  project.write('go-3', '');
  await atWork(project, 'item7');
  expect(changes(running).at(-1)).toEqual([5, 3, 'set by a person']);
  shift.manager = shift.manager.replace('- current-batch-size', '- max-batch-size: 1\n- current-batch-size');
  project.write('go-4', '');
  await running.seen('concurrency:changed', ({ to }) => to === 1);
  project.write('go', '');
  const ended = await running.ended;
  expect(ended.code).toBe(0);
  expect(changes(ended).at(-1)).toEqual([expect.any(Number), 1, 'set by a person']);
  expect(setting(shift, 'current-batch-size')).toBe('1');
  expect(begun(project, 'dev')).toHaveLength(8);
});

test('X7 T4 an item that is withdrawn and back at todo is begun again only when its agent has ended', async () => {
  const project = new Project();
  const shift = stream(project, ['a', 'b'], { 'current-batch-size': 4 });
  const first = '.nightshift/first';
  // Each holds a lock as long as anything of it lives.
  const alone = 'exec 9> .nightshift/held; flock -n 9 || touch .nightshift/both';
  const hangs = `touch ${first}; trap "" TERM; ${waits.sh}`;
  project.behave({ 'dev:a': { sh: `${alone}; [ -e ${first} ] || { ${hangs}; }` }, 'dev:b': waits });
  const running = shift.launch();
  await until(() => project.exists(first), 'the first dev of a');
  editRow(shift, 1, 'in_progress', 'todo');
  await running.seen('item:withdrawn');
  await until(() => done(shift, 'a'), 'a');
  project.write('go', '');
  expect((await running.ended).code).toBe(0);
  expect([begun(project, 'dev', 'a').length, project.exists('.nightshift/both')]).toEqual([2, false]);
});

test('X7 T4 a withdrawn item is stopped and dropped, and its slot refilled; the limit stays', async () => {
  const project = new Project();
  const shift = stream(project, ['a', 'b', 'c', 'd'], { 'max-batch-size': 2 });
  project.behave({ 'dev:a': { sh: `trap "" TERM; ${waits.sh}` }, 'dev:b': waits, 'dev:c': waits });
  const running = shift.launch();
  await atWork(project, 'a');
  await atWork(project, 'b');
  editRow(shift, 1, 'in_progress', 'failed');
  expect(await running.seen('item:withdrawn')).toMatchObject({ task: 'work', index: 0 });
  await atWork(project, 'c');
  edit(shift, (lines) => lines.filter((line) => !line.startsWith('b,')));
  await running.seen('item:withdrawn', ({ item }) => item !== ofType(running, 'item:withdrawn')[0].item);
  await until(() => done(shift, 'd'), 'd');
  project.write('go', '');
  const ended = await running.ended;
  expect(ended.code).toBe(3);
  expect(shift.tableText).toBe('name,work\na,failed\nc,done\nd,done\n');
  expect(changes(ended)).toEqual([]);
  expect(begun(project, 'qa').map(({ name }) => name)).not.toContain('a');
});

test('X7 T4 a row that is added while there is room is begun, also when nothing ends', async () => {
  const project = new Project();
  const shift = stream(project, ['a']);
  project.behave({ 'dev:a': waits });
  const running = shift.launch();
  await atWork(project, 'a');
  expect((await project.run(['table', 'night', 'add', 'name=b'])).code).toBe(0);
  await until(() => done(shift, 'b'), 'b, which was added');
  project.write('go', '');
  expect((await running.ended).code).toBe(0);
});

test('X7 F6 what the manager can not read ends the run when all in flight have ended; nothing more is claimed', async () => {
  const project = new Project();
  const shift = stream(project, names(4), { 'max-batch-size': 2, patience: '1s' });
  project.behave({
    'dev:item1': waits,
    'dev:item2': { sh: 'until [ -e go-1 ]; do sleep 0.05; done' },
  });
  const running = shift.launch();
  await atWork(project, 'item1');
  await atWork(project, 'item2');
  shift.manager = shift.manager.replace('## Task Order', '## Tasks');
  project.write('go-1', '');
  await until(() => done(shift, 'item2'), 'item 2');
  await running.seen('run:warning', ({ message }) => message.includes('after 1s the run ends'));
  project.write('go', '');
  const ended = await running.ended;
  expect(ended.code).toBe(2);
  expect(shift.column('work')).toEqual(['done', 'done', 'todo', 'todo']);
});

test('X7 a person may change the way of dispatch: what is in flight ends as it began', async () => {
  const project = new Project();
  const shift = stream(project, names(5), { 'max-batch-size': 2 });
  project.behave({ 'dev:item1': waits, 'dev:item2': { sh: 'until [ -e go-1 ]; do sleep 0.05; done' } });
  const running = shift.launch();
  await atWork(project, 'item1');
  await atWork(project, 'item2');
  await shift.edit('manager', (text) => text.replace('dispatch: stream', 'dispatch: batch'));
  await running.seen('document:accepted');
  project.write('go-1', '');
  await until(() => done(shift, 'item2'), 'item 2');
  project.behave({ 'dev:item3': waits });
  project.write('go-0', '');
  await atWork(project, 'item3');
  // The watch is that of the batch: what is withdrawn from it is stopped. Again and again, because an edit without
  // the lock may be lost when the run writes at the same moment: the other row of the batch ends about now.
  const isWithdrawn = () => ofType(running, 'item:withdrawn').some(({ index }) => index === 2);
  await until(() => isWithdrawn() || editRow(shift, 3, 'in_progress', 'failed'), 'item 3 to be withdrawn');
  await shift.edit('manager', (text) => text.replace('dispatch: batch', 'dispatch: stream'));
  const ended = await running.ended;
  expect(ended.code).toBe(3);
  expect(ofType(ended, 'batch:finished').length).toBeGreaterThan(0);
  expect(shift.column('work')).toEqual(['done', 'done', 'failed', 'done', 'done']);
});

test('X7 D5 what only the run may write is put back while others go on; everybody is judged by the Validation of the start', async () => {
  const project = new Project();
  const shift = stream(project, ['a', 'b', 'c', 'd', 'e', 'f'], { 'max-batch-size': 2 });
  const original = shift.task('work');
  // Again and again, so that it also happens between two looks.
  const trespass =
    'i=0; while [ $i -lt 40 ]; do sed -i "s/is done/is anything/" "$NIGHTSHIFT_SHIFT_DIR/work.md"; i=$((i+1)); done';
  project.behave({ 'dev:a:1': { sh: trespass }, 'dev:b': waits, 'dev:c': waits });
  const running = shift.launch();
  await running.seen('edit:reverted');
  const isReverted = () =>
    ofType(running, 'edit:reverted').some(({ what }) => what.includes('row 6: work from todo to done'));
  // Written without the lock, an edit may be lost when the run writes at the same moment.
  await until(() => isReverted() || editRow(shift, 6, 'todo', 'done'), 'the edit to be reverted');
  project.write('go', '');
  const ended = await running.ended;
  expect(ended.code).toBe(0);
  expect(shift.task('work')).toBe(original);
  expect(begun(project, 'dev', 'f')).toHaveLength(1);
  expect(begun(project, 'qa')).toHaveLength(6);
  for (const { prompt, name } of begun(project, 'qa')) {
    expect(prompt).toContain(`${name} is done`);
    expect(prompt).not.toContain('anything');
  }
});

test('X7 D5 an edit of the Validation that nobody is shown to have made is put back, and fails nobody', async () => {
  const project = new Project();
  const shift = stream(project, ['a', 'b'], { 'max-batch-size': 1 });
  project.behave({ 'dev:a:1': { sh: 'sed -i "s/is done/is anything/" "$NIGHTSHIFT_SHIFT_DIR/work.md"' } });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(ofType(ended, 'edit:reverted')).toMatchObject([{ task: 'work', what: 'Validation' }]);
  expect(ofType(ended, 'attempt:finished').map(({ index, status }) => `${index} ${status}`)).toEqual([
    ...['0 SUCCESS', '1 SUCCESS'],
  ]);
});

const STEPS = '1. Open {name}\n2. Close it';
const recommend = (...recommendations: string[]) => ({ report: { recommendations } });
const NO_GROUPS = { lessons: [], summary: 'nothing to group' };

test('X7 L2 L5 lessons are folded in as items pass, beside the others; each item names the version that it got', async () => {
  const project = new Project();
  const settings = { 'max-batch-size': 2, 'disable-self-improvement': false };
  const shift = stream(project, names(6), settings, { work: agentTask(STEPS) });
  project.behave({
    'dev:item1': recommend('Knock', 'Wipe your feet'),
    'dev:item2': waits,
    'dev:item3': { sh: 'until [ -e go-2 ]; do sleep 0.05; done' },
    manager: { sh: 'until [ -e teach ]; do sleep 0.05; done', report: NO_GROUPS },
  });
  const running = shift.launch();
  await until(() => begun(project, 'manager').length > 0, 'the manager to be asked');
  // While the manager's agent thinks, the slot is not empty.
  await atWork(project, 'item3');
  project.write('teach', '');
  const changed = await running.seen('steps:changed');
  expect(changed.lessons).toMatchObject([{ text: 'Knock', rows: [1] }, { text: 'Wipe your feet' }]);
  project.write('go-2', '');
  await until(() => done(shift, 'item6'), 'the last item');
  project.write('go', '');
  const ended = await running.ended;
  expect(ended.code).toBe(0);
  const versions = ofType(ended, 'dev:started')
    .map(({ index, version }) => [index, version])
    .sort();
  expect(versions).toEqual([
    ...[0, 1, 2].map((index) => [index, changed.from]),
    ...[3, 4, 5].map((index) => [index, changed.to]),
  ]);
  for (const { name, prompt } of begun(project, 'dev')) {
    expect([name, prompt.includes('3. Knock')]).toEqual([name, ['item4', 'item5', 'item6'].includes(name)]);
  }
  expect(begun(project, 'manager')).toHaveLength(1);
});

test('X7 L2 a lesson that comes up while another is folded in starts from the Steps as they are then', async () => {
  const project = new Project();
  const shift = stream(project, names(2), { 'disable-self-improvement': false }, { work: agentTask(STEPS) });
  project.behave({
    'dev:item1': recommend('Knock', 'Hang up your coat'),
    'dev:item2': { sh: 'until [ -e asked ]; do sleep 0.05; done', ...recommend('Wipe your feet') },
    manager: { sh: 'touch asked; until [ -e teach ]; do sleep 0.05; done', report: NO_GROUPS },
  });
  const running = shift.launch();
  await until(() => done(shift, 'item2'), 'item 2');
  project.write('teach', '');
  const ended = await running.ended;
  expect(ended.code).toBe(0);
  expect(ofType(ended, 'steps:kept')).toEqual([]);
  const [first, second] = ofType(ended, 'steps:changed');
  expect(second.from).toBe(first.to);
  expect(shift.task('work')).toContain(
    '1. Open {name}\n2. Close it\n3. Hang up your coat\n4. Knock\n5. Wipe your feet\n',
  );
});

/** The first write is the claim; events are written soon after they were told, which is later than this. */
const CRASH = { env: { NIGHTSHIFT_CRASH_AT: 'table:renamed#2' } };
const CHECKED = agentTask('1. Do {name}', '- It is done\n\n   ```sh\n   true\n   ```');

test('X7 T2 P8 a verdict of the checks alone is recorded with the end of the dev; what the dev reported is in the journal before', async () => {
  const project = new Project();
  const shift = stream(project, ['item1'], {}, { work: CHECKED });
  const report = { recommendations: ['Knock'], usage: { input_tokens: 7 }, captured_values: { colour: 'red' } };
  project.behave({ dev: { report } });
  const killed = await shift.start([], CRASH);
  expect([killed.signal, shift.column('work')]).toEqual(['SIGKILL', ['done']]);
  expect(shift.journal().find(({ type }) => type === 'dev:finished')).toMatchObject({
    recommendations: ['Knock'],
    usage: { inputTokens: 7 },
    captured: { colour: 'red' },
  });
  const ended = await shift.start();
  expect([ended.code, ofType(ended, 'dev:started')]).toEqual([0, []]);
});

test('X7 P8 the reason of a failure is in the journal before the status is in the table', async () => {
  const project = new Project();
  const shift = stream(project, ['item1'], {}, { work: CHECKED });
  project.behave({ dev: { report: { overall_status: 'FAILED (step 1)', error: 'locked' } } });
  const killed = await shift.start([], CRASH);
  expect([killed.signal, shift.column('work')]).toEqual(['SIGKILL', ['failed']]);
  expect(shift.journal().find(({ type }) => type === 'dev:finished').reason).toContain('locked');
});

test('X7 dispatch: stream without parallel is a warning; another word too', async () => {
  const project = new Project();
  const settings = { agent: 'shell', parallel: false };
  const shift = stream(project, names(3), settings, { work: shellTask('test ! -e busy; touch busy; rm busy') });
  const alone = await shift.start();
  expect(alone.code).toBe(0);
  expect(ofType(alone, 'run:warning').map(({ message }) => message)).toEqual([
    expect.stringContaining('`dispatch: stream` needs `parallel: true`'),
  ]);
  expect(ofType(alone, 'batch:claimed').map(({ indices }) => indices)).toEqual([[0], [1], [2]]);
  const other = new Project();
  const strange = await stream(other, names(2), { agent: 'shell', dispatch: 'fast' }, { work: FRAGILE }).start();
  expect(strange.code).toBe(0);
  expect(ofType(strange, 'run:warning')[0].message).toContain('it is `batch` or `stream`');
  expect(ofType(strange, 'batch:finished')).toHaveLength(1);
});

/** Nobody's qa ends before all of the batch have begun. */
const MEET = {
  sh: 'touch ".nightshift/judging-$NIGHTSHIFT_INDEX"; until [ "$(ls .nightshift/judging-* | wc -l)" -ge 3 ]; do sleep 0.05; done',
};

test('P6 X1 qa: parallel judges a batch at once, after all devs', async () => {
  const project = new Project();
  const settings = { parallel: true, 'current-batch-size': 3, timeout: '60s', 'disable-self-improvement': true };
  const shift = project.shift('night', {
    settings: { ...settings, qa: 'parallel' },
    table: table(names(3)),
    tasks: { work: agentTask() },
  });
  project.behave({ qa: MEET });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  const order = ended.events.map(({ type }) => type).filter((type) => /^(dev|qa):(started|finished)/.test(type));
  expect(order.lastIndexOf('dev:finished')).toBeLessThan(order.indexOf('qa:started'));
});

test('X1 qa: always, parallel asks about checks too; another word is an error with its line', async () => {
  const project = new Project();
  const check = '- {name} is done\n\n  ```sh\n  true\n  ```';
  const shift = project.shift('night', {
    settings: { parallel: true, 'current-batch-size': 3, timeout: '60s' },
    table: table(names(3)),
    tasks: { work: agentTask('1. Do {name}', check, '- qa: always, parallel\n') },
  });
  project.behave({ qa: MEET });
  expect((await shift.start()).code).toBe(0);
  expect(begun(project, 'qa')).toHaveLength(3);
  project.write(`${shift.folder}/work.md`, shift.task('work').replace('always, parallel', 'always, sometimes'));
  const wrong = await project.run(['start', 'night']);
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringMatching(/work\.md.*5[\s\S]*auto, always, parallel/)]);
});

test('X7 D5 T4 a task that leaves the Task Order while its item runs: the item ends as it would have, with its cost', async () => {
  const project = new Project();
  const tasks = { work: agentTask(), more: shellTask('true', 'true', '- agent: shell') };
  const shift = stream(project, names(2), { 'current-batch-size': 2, 'disable-self-improvement': false }, tasks);
  project.behave({
    dev: { ...waits, report: { recommendations: ['Knock first'], usage: { cost_usd: 0.25 } } },
  });
  const running = shift.launch();
  await atWork(project, 'item1');
  await atWork(project, 'item2');
  shift.manager = shift.manager.replace('1. work\n2. more', '1. more');
  await running.seen('edit:reverted');
  expect((await project.run(['accept', 'night', '--yes'])).code).toBe(0);
  await running.seen('document:accepted');
  // Its slot is refilled: the run reads the shift again, while item 1 is still running.
  project.write('go-1', '');
  await running.seen('item:recorded', ({ task, to }) => task === 'more' && to === 'done');
  project.write('go-0', '');
  const ended = await running.ended;
  expect([ended.code, ended.stderr]).toEqual([0, '']);
  expect(shift.tableText).toBe('name,work,more\nitem1,done,done\nitem2,done,done\n');
  const costs = ofType({ events: shift.journal() }, 'usage:spent').filter(({ index }) => index === 0);
  expect(costs.map(({ usage }) => usage.costUsd)).toContain(0.25);
  expect(ofType(ended, 'item:withdrawn')).toEqual([]);
  expect(ofType(ended, 'item:recorded').filter(({ task, index }) => task === 'work' && index === 0)).toMatchObject([
    { from: 'in_progress', to: 'qa' },
    { from: 'qa', to: 'done' },
  ]);
});
