import { readdirSync } from 'node:fs';
import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle, shellTask, until } from '../harness.ts';

const STEPS = '1. Open {name}\n2. Close it';
const recommend = (...recommendations: string[]) => ({ report: { recommendations } });
const steps = (shift: ShiftHandle) => /## Steps\n\n([\s\S]*?)\n\n## Validation/.exec(shift.task('work'))![1];
const WAITS = { sh: 'until [ -e .nightshift/go ]; do sleep 0.05; done' };
const HELD = 'Never close it';

function night(project: Project, names: string): ShiftHandle {
  const rows = names.split(' ').map((name) => `${name},todo\n`);
  return project.shift('night', {
    settings: { lessons: 'careful' },
    table: `name,work\n${rows.join('')}`,
    tasks: { work: agentTask(STEPS) },
  });
}

async function lessons(project: Project, ...words: string[]) {
  const { code, stdout, stderr } = await project.run(['lessons', 'night', ...words]);
  return { code, stderr, lines: stdout.trimEnd().split('\n') };
}

/** Id and state of each, as listed. */
async function states(project: Project): Promise<string[]> {
  const { lines } = await lessons(project, '--json');
  return JSON.parse(lines[0]!).lessons.map(({ id, state }: Record<string, string>) => `${id} ${state}`);
}

test('L12 L13 a person decides about lessons: what is held comes first, and each verb changes the Steps at once', async () => {
  const project = new Project();
  const shift = night(project, 'a b c');
  project.behave({ 'dev:a': recommend('Knock twice', HELD), 'dev:b': recommend('Wear thick gloves') });
  const first = await project.run(['start', 'night', '--rows', '1:2', '--plain']);
  const summary =
    'lessons: 2 waiting for more rows (2 new), 1 needs you (1 new); `nightshift lessons night` shows them';
  expect([first.code, first.stdout]).toEqual([0, expect.stringContaining(`\n${summary}\n`)]);
  expect((await project.run(['status', 'night'])).stdout).toContain(`\n${summary}\n`);
  const { learning } = JSON.parse((await project.run(['status', 'night', '--json'])).stdout);
  expect(learning).toMatchObject({ mode: 'careful', states: { held: 1, waiting: 2, firm: 0 } });
  const listed = (await lessons(project)).lines;
  expect(listed[0]).toBe('night: 3 lessons (lessons: careful)');
  expect(listed.filter((line) => /^\S|^ {2}L/.test(line)).slice(1)).toEqual([
    'Held: you decide (`nightshift lessons night accept|reject ID`)',
    `  L2  ${HELD}`,
    'Waiting for more rows (`nightshift lessons night accept|reject ID`)',
    '  L1  Knock twice',
    '  L3  Wear thick gloves',
  ]);
  expect(steps(shift)).toBe(STEPS);

  const accepted = await lessons(project, 'accept', 'L1', 'L3');
  expect(accepted.lines).toEqual(['L1 waiting -> firm: Knock twice', 'L3 waiting -> firm: Wear thick gloves']);
  expect(steps(shift)).toBe(`${STEPS}\n3. Knock twice\n4. Wear thick gloves`);
  await lessons(project, 'pin', 'L3');
  await lessons(project, 'ban', 'L1', '--reason', 'there is a bell');
  expect((await lessons(project, 'reject', 'L2')).lines).toEqual([`L2 held -> banned: ${HELD} (rejected by a person)`]);
  expect(steps(shift)).toBe(`${STEPS}\n3. Wear thick gloves`);
  expect((await lessons(project, 'add', 'Ring the bell of {name}')).lines).toEqual([
    'L4 firm: Ring the bell of {name}',
  ]);
  const { stdout: versions } = await project.run(['steps', 'night', 'work']);
  expect(versions).toMatch(/\(in force\) {2}changed \S+: added L4\n {4}Ring the bell of \{name\}\n$/);
  expect(await states(project)).toEqual(['L3 pinned', 'L4 firm', 'L1 banned', 'L2 banned']);
  expect((await lessons(project, 'undo', 'L1')).lines).toEqual(['L1 banned -> firm: Knock twice']);
  expect(steps(shift)).toBe(`${STEPS}\n3. Wear thick gloves\n4. Ring the bell of {name}\n5. Knock twice`);
  const told = shift.journal().filter(({ type }) => type === 'lesson:changed');
  expect(told.map(({ id, from, to }) => `${id} ${from} ${to}`).slice(-5)).toEqual([
    'L3 firm pinned',
    'L1 firm banned',
    'L2 held banned',
    'L4 undefined firm',
    'L1 banned firm',
  ]);

  project.behave({});
  expect((await shift.start()).code).toBe(0);
  const given = project.calls().find(({ role, name }) => role === 'dev' && name === 'c');
  expect(given.prompt).toContain('4. Ring the bell of c');
  expect(await states(project)).toEqual(['L1 firm', 'L3 pinned', 'L4 firm', 'L2 banned']);
});

test('L12 a decision that makes no sense is refused, and changes nothing', async () => {
  const project = new Project();
  const shift = night(project, 'a');
  expect((await lessons(project)).lines).toEqual(['night: no lessons yet (lessons: careful)']);
  await lessons(project, 'add', 'Knock twice');
  const before = [shift.task('work'), project.read('.nightshift/night/lessons.json')];
  for (const [words, why] of [
    [['accept', 'L9'], /there is no lesson L9[\s\S]*nightshift lessons night/],
    [['accept', 'L1'], /L1 is already firm/],
    [['reject', 'L1'], /in the Steps; ban it/],
    [['ban', 'L1', 'L9'], /no lesson L9/],
    [['accept'], /takes the id of a lesson/],
    [['add', 'knock twice!'], /lesson L1 \(firm\) already says that/],
    [['add', 'close it.'], /the Steps already say that/],
    [['add', 'Ask {nobody}'], /nobody/],
    [['add', 'Knock', 'twice'], /text of one lesson/],
    [['add', 'Wait', '--task', 'wrk'], /did you mean work/],
    [['wrk'], /did you mean work/],
    [['work', 'more'], /one word too many/],
  ] as const) {
    const refused = await lessons(project, ...words);
    expect([words, refused.code, refused.stderr]).toEqual([words, 2, expect.stringMatching(why)]);
  }
  expect([shift.task('work'), project.read('.nightshift/night/lessons.json')]).toEqual(before);

  project.shift('night', {
    settings: { agent: 'shell' },
    table: 'name,work\na,todo\n',
    tasks: { work: shellTask('true') },
  });
  const script = await lessons(project, 'add', 'Wait a minute');
  expect([script.code, script.stderr]).toEqual([2, expect.stringMatching(/runs its Steps as scripts/)]);
});

test('L4 L12 a decision during a run is in force for the next item, and brings no edit of an agent with it', async () => {
  const project = new Project();
  const shift = night(project, 'a b');
  const forge = 'echo "- anything goes" >> "$NIGHTSHIFT_SHIFT_DIR/work.md"';
  project.behave({ 'dev:a': WAITS });
  const run = shift.launch();
  await until(() => project.calls().some(({ name }) => name === 'a'), 'the dev of a');
  expect((await lessons(project, 'add', 'Knock twice')).lines).toEqual(['L1 firm: Knock twice']);
  expect((await lessons(project, 'ban', 'L1')).code).toBe(0);
  expect((await lessons(project, 'undo', 'L1')).code).toBe(0);
  expect((await lessons(project, 'add', 'Wear thick gloves')).code).toBe(0);
  project.write('.nightshift/go', '');
  const ended = await run.ended;
  expect(ended.code).toBe(0);
  expect(ended.events.filter(({ type }) => type === 'edit:reverted')).toEqual([]);
  expect(steps(shift)).toBe(`${STEPS}\n3. Knock twice\n4. Wear thick gloves`);
  const told = shift.journal().filter(({ type }) => type === 'lesson:changed');
  expect(told.map(({ id, to }) => `${id} ${to}`)).toEqual(['L1 firm', 'L1 banned', 'L1 firm', 'L2 firm']);
  const prompts = project.calls().filter(({ role, ended: isOver }) => role === 'dev' && !isOver);
  expect(prompts.map(({ name, prompt }) => [name, prompt.includes('3. Knock twice')])).toEqual([
    ['a', false],
    ['b', true],
  ]);

  const other = new Project();
  const second = night(other, 'a b');
  // Stopped before it can notice the edit.
  other.behave({
    'dev:a': { sh: `kill -STOP $(cat .nightshift/pid); ${forge}; touch .nightshift/forged; ${WAITS.sh}` },
  });
  const stopped = other.spawn(['start', 'night', '--json']);
  other.write('.nightshift/pid', String(stopped.pid));
  await until(() => other.exists('.nightshift/forged'), 'the edit');
  const refused = await lessons(other, 'add', 'Knock twice');
  const restored = await other.run(['steps', 'night', 'work', '--restore', '1']);
  process.kill(stopped.pid, 'SIGCONT');
  other.write('.nightshift/go', '');
  await stopped.ended;
  for (const { code, stderr } of [refused, restored]) {
    expect([code, stderr]).toEqual([2, expect.stringMatching(/work\.md was edited while items run/)]);
  }
  expect(second.task('work')).not.toContain('anything goes');
});

test('L12 lessons of an older shift wait in a new one, with where they come from; export lists them all', async () => {
  const project = new Project();
  night(project, 'a');
  await lessons(project, 'add', 'Knock <b>twice</b>');
  await lessons(project, 'add', 'Wear thick gloves');
  await lessons(project, 'ban', 'L2', '--reason', 'too warm');
  expect((await lessons(project, 'export')).lines).toEqual([
    '# Lessons of night',
    '',
    '## work',
    '',
    '### In the Steps',
    '',
    '- Knock &lt;b>twice&lt;/b> (L1)',
    '',
    '### Banned',
    '',
    '- Wear thick gloves (L2; too warm)',
  ]);
  expect((await project.run(['create', 'noon', '--lessons-from', 'night'])).code).toBe(0);
  expect(JSON.parse(project.read('.nightshift/noon/lessons.json')).lessons).toMatchObject([
    { id: 'L1', task: 'work', state: 'waiting', from: 'night', text: 'Knock <b>twice</b>' },
  ]);
  expect(project.read('.nightshift/noon/manager.md')).toContain('- lessons: careful\n');
  const none = await project.run(['create', 'dusk', '--lessons-from', 'noon']);
  expect([none.code, none.stderr]).toEqual([2, expect.stringMatching(/noon has no lesson in its Steps/)]);
  await project.run(['archive', 'night', '--force']);
  const [archived] = readdirSync(project.path('.nightshift/archive'));
  expect((await project.run(['create', 'dusk', '--lessons-from', archived!])).code).toBe(0);
  expect(project.exists('.nightshift/dusk/lessons.json')).toBe(true);
});
