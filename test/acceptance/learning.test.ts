import { expect, test } from 'vitest';
import { agentTask, type Ended, Project, type ShiftHandle, shellTask } from '../harness.ts';

const STEPS = '1. Open {name}\n2. Close it';
const ofType = ({ events }: Ended, type: string) => events.filter((event) => event.type === type);
const recommend = (...recommendations: string[]) => ({ report: { recommendations } });
const change = (...changes: object[]) => ({ report: { changes, summary: 'as agreed' } });
const add = (text: string) => change({ op: 'add', after: 2, text });
const steps = (shift: ShiftHandle) => /## Steps\n\n([\s\S]*?)\n\n## Validation/.exec(shift.task('work'))![1];
const managerCalls = (project: Project) => project.calls().filter(({ role, ended }) => role === 'manager' && !ended);

function night(
  project: Project,
  names: string,
  settings: Record<string, string | boolean> = {},
  env?: string,
): ShiftHandle {
  return project.shift('night', {
    settings: { parallel: true, ...settings },
    table: `name,lang,work\n${names
      .split(' ')
      .map((name) => `${name},en,todo\n`)
      .join('')}`,
    tasks: { work: agentTask(STEPS) },
    ...(env === undefined ? {} : { env }),
  });
}

test('L1 only devs that succeeded, on items that passed qa, teach', async () => {
  const project = new Project();
  const shift = night(project, 'good lost refused', { 'current-batch-size': '3' });
  project.behave({
    'dev:good': recommend('from the good one'),
    'dev:lost': { report: { overall_status: 'FAILED (step 1)', recommendations: ['from the lost one'] } },
    'dev:refused': recommend('from the refused one'),
    'qa:refused': { report: { overall_status: 'FAIL', summary: 'no' } },
  });
  await shift.start();
  const [call, ...more] = managerCalls(project);
  expect(more).toEqual([]);
  const wishes = /<recommendations-(\w+)>\n([\s\S]*?)\n<\/recommendations-\1>/.exec(call.prompt)![2]!;
  expect(wishes.split('\n').map((line) => JSON.parse(line))).toEqual([{ row: 1, text: 'from the good one' }]);
  expect(call.prompt).toContain('1. Open {name}\n2. Close it');
  expect(call.prompt).not.toContain('from the refused one');
});

test('L2 L5 one change before the next batch, which is given the new Steps; sequentially after every item', async () => {
  const project = new Project();
  const shift = night(project, 'a b c d');
  project.behave({
    'dev:a': recommend('Knock', 'Wipe your feet'),
    'dev:b': recommend('knock first'),
    manager: change(
      { op: 'replace', step: 2, text: 'Close it gently' },
      { op: 'add', after: 0, text: 'Knock first' },
      { op: 'add', after: 1, text: 'Wipe your feet' },
    ),
  });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  expect(managerCalls(project)).toHaveLength(1);
  expect(steps(shift)).toBe('1. Knock first\n2. Open {name}\n3. Wipe your feet\n4. Close it gently');
  const prompts = project.calls().filter(({ role, ended: end }) => role === 'dev' && !end);
  const told = Object.fromEntries(prompts.map(({ name, prompt }) => [name, prompt.includes('1. Knock first')]));
  expect(told).toEqual({ a: false, b: false, c: true, d: true });

  const other = new Project();
  const sequential = night(other, 'a b', { parallel: false });
  other.behave({ 'dev:a': recommend('Knock'), manager: add('Knock') });
  expect((await sequential.start()).code).toBe(0);
  const second = other.calls().find(({ role, name }) => role === 'dev' && name === 'b');
  expect(second.prompt).toContain('3. Knock');
});

test('L2 a lesson that repeats a step, or another lesson, is not added again', async () => {
  const project = new Project();
  const shift = night(project, 'a b');
  const texts = ['close it.', 'Knock first', '3. knock first!'];
  project.behave({ dev: recommend('Knock'), manager: change(...texts.map((text) => ({ op: 'add', after: 2, text }))) });
  const ended = await shift.start();
  expect([ended.code, steps(shift)]).toEqual([0, `${STEPS}\n3. Knock first`]);
  expect(ofType(ended, 'steps:changed')[0].lessons).toMatchObject([{ text: 'Knock first', rows: [1, 2] }]);
});

test('L3 only the Steps change: every other byte of the file is the same', async () => {
  const project = new Project();
  const shift = night(project, 'a b');
  const text = shift
    .task('work')
    .replace('## Validation\n', '## Validation\n\n<!-- mine -->\n')
    .replaceAll('\n', '\r\n');
  project.write('.nightshift/night/work.md', text);
  project.behave({ dev: recommend('Knock'), manager: add('Knock') });
  expect((await shift.start()).code).toBe(0);
  expect(shift.task('work')).toBe(text.replace('2. Close it\r\n', '2. Close it\r\n3. Knock\r\n'));
});

test.each([
  ['a secret in it', add('Use s3cr3t-t0ken-42'), /secret/],
  ['one good and one bad change', change({ op: 'add', after: 2, text: 'Knock' }, { op: 'remove', step: 1 }), /gone/],
])('L3 L6 %s: the whole set is refused, and what two rows said is merged by a plain rule', async (_, manager, why) => {
  const project = new Project();
  const shift = night(project, 'Zanzibar-7 b c', {}, 'TOKEN=s3cr3t-t0ken-42\n');
  project.behave({ 'dev:Zanzibar-7': recommend('Knock'), 'dev:b': recommend('knock.'), manager });
  const ended = await shift.start();
  expect(ended.code).toBe(0);
  const [changed] = ofType(ended, 'steps:changed');
  expect(changed.summary).toMatch(why);
  expect(changed.lessons).toMatchObject([{ rows: [1, 2] }]);
  expect(steps(shift)).toMatch(/^1\. Open \{name\}\n2\. Close it\n3\. [Kk]nock\.?$/);
});

test('L3 a value that many rows share may stand in a lesson', async () => {
  const project = new Project();
  const shift = night(project, 'a b');
  project.behave({ dev: recommend('Write it in en'), manager: add('Write it in en') });
  expect((await shift.start()).code).toBe(0);
  expect(steps(shift)).toContain('3. Write it in en');
});

test('L4 every lesson has its origin, every version is kept, and steps shows the difference and goes back', async () => {
  const project = new Project();
  const shift = night(project, 'a b c d');
  const original = shift.task('work');
  project.behave({ 'dev:b:1': { exit: 1 }, 'dev:b:2': recommend('Knock'), manager: add('Knock') });
  const ended = await shift.start();
  const [changed] = ofType(ended, 'steps:changed');
  const listed = JSON.parse((await project.run(['steps', 'night', 'work', '--json'])).stdout);
  expect(listed.versions).toMatchObject([
    { number: 1, version: changed.from, current: false },
    {
      number: 2,
      version: changed.to,
      current: true,
      at: changed.at,
      run: changed.run,
      batch: 1,
      lessons: [{ text: 'Knock', rows: [2], attempts: [2] }],
    },
  ]);
  const plain = (await project.run(['steps', 'night', 'work'])).stdout;
  expect(plain).toMatch(/2 \w+ \(in force\) +learned .*, batch 1 of run .*\n +Knock \(from row 2; attempt 2\)/);
  const diff = (await project.run(['steps', 'night', 'work', '--diff', '2'])).stdout.split('\n');
  expect(diff.filter((line) => /^[+-]/.test(line))).toEqual(['+3. Knock']);

  // A person's Configuration and Validation stay as they are now.
  const edited = shift.task('work').replace('is done', 'is quite done');
  project.write('.nightshift/night/work.md', edited);
  const restored = await project.run(['steps', 'night', 'work', '--restore', '1', '--json']);
  expect(restored.code).toBe(0);
  expect(shift.task('work')).toBe(original.replace('is done', 'is quite done'));
  const kept = JSON.parse((await project.run(['steps', 'night', 'work', '--json'])).stdout).versions;
  expect(kept.map(({ current }: { current: boolean }) => current)).toEqual([false, false, false, true]);
  await project.run(['steps', 'night', 'work', '--restore', changed.to]);
  expect(steps(shift)).toContain('3. Knock');
  const missing = await project.run(['steps', 'night', 'work', '--restore', '99']);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('versions are: 1, 2, 3, 4')]);
});

test('L4 what waits to be folded in does not come back after a person went back to an older version', async () => {
  for (const restores of [true, false]) {
    const project = new Project();
    const shift = night(project, 'a b');
    project.behave({ 'dev:a': recommend('Knock'), 'dev:b': recommend('knock.'), manager: { report: null } });
    expect((await shift.start(['--rows', '1:1'])).code).toBe(0);
    if (restores) expect((await project.run(['steps', 'night', 'work', '--restore', '1'])).code).toBe(0);
    expect((await shift.start()).code).toBe(0);
    expect(steps(shift)).toMatch(restores ? /2\. Close it$/ : /3\. [Kk]nock/);
  }
});

test('L5 disable-self-improvement turns it off; so does an agent that recommends nothing', async () => {
  for (const [settings, recommendations] of [
    [{ 'disable-self-improvement': true }, ['Knock']],
    [{}, 'None'],
    [{}, []],
  ] as const) {
    const project = new Project();
    const shift = night(project, 'a b', settings);
    const before = shift.task('work');
    project.behave({ dev: { report: { recommendations } }, manager: add('Knock') });
    expect((await shift.start()).code).toBe(0);
    expect(managerCalls(project)).toEqual([]);
    expect(shift.task('work')).toBe(before);
  }
});

test('L6 without a usable answer: what two different rows said is merged once; what one row said waits for another', async () => {
  const project = new Project();
  const shift = night(project, 'a b c', { 'max-batch-size': '2' });
  project.behave({
    'dev:a': recommend('Wear gloves', 'Knock twice'),
    'dev:b': recommend('wear gloves!'),
    'dev:c': recommend('Knock twice.'),
    manager: { report: null },
  });
  const ended = await shift.start();
  const changes = ofType(ended, 'steps:changed');
  expect(changes.map(({ lessons }) => lessons.map(({ rows }: { rows: number[] }) => rows))).toEqual([
    [[1, 2]],
    [[1, 3]],
  ]);
  expect(
    steps(shift)
      ?.toLowerCase()
      .match(/gloves|knock/g),
  ).toEqual(['gloves', 'knock']);
});

test('L6 for a shell task recommendations would be text from data that is run: the Steps stay', async () => {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work\na,todo\n',
    tasks: { work: shellTask('true') },
  });
  const before = shift.task('work');
  expect((await shift.start()).code).toBe(0);
  expect(shift.task('work')).toBe(before);
});
