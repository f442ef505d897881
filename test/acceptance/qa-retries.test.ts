import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle, task } from '../harness.ts';

const MODES = [
  ['one at a time', {}],
  ['in batches', { parallel: true }],
  ['in a stream', { parallel: true, dispatch: 'stream' }],
] as const;

const FAIL = {
  report: { overall_status: 'FAIL', criteria: [{ criterion: '{name} is done', status: 'FAIL', reason: 'it is blue' }] },
};

/** Its qa fails it until its dev has had this attempt. */
function failsUntil(project: Project, name: string, attempt: number): void {
  const verdict = { ...FAIL.report.criteria[0], criterion: `${name} is done` };
  const failing = { report: { overall_status: 'FAIL', criteria: [verdict] } };
  project.behave({
    [`qa:${name}`]: failing,
    [`dev:${name}:${attempt}`]: { write: { 'behaviour.json': '{}' } },
  });
}

function rows(project: Project, settings: Record<string, string | number | boolean>, text = agentTask()): ShiftHandle {
  const table = 'name,make\na,todo\nb,todo\nc,todo\n';
  return project.shift('night', { settings, table, tasks: { make: text } });
}

// biome-ignore lint/suspicious/noExplicitAny: events of every kind
function walkOf(events: any[], index: number): string[] {
  return events
    .filter((event) => event.type === 'item:recorded' && event.index === index)
    .map(({ from, to }) => `${from} -> ${to}`);
}

function devsOf(project: Project, name: string): { attempt: string; prompt: string; key: string }[] {
  return project.calls().filter((call) => call.role === 'dev' && call.name === name && !call.ended);
}

test.each(MODES)(
  'Q3 D3 T1 %s: what a qa fails goes back to its dev as its next attempt, with the criteria and reasons',
  async (_, settings) => {
    const project = new Project();
    const shift = rows(project, { 'qa-retries': 1, ...settings });
    failsUntil(project, 'a', 2);
    const { code, events } = await shift.start(['--rows', '1:2']);
    expect(code).toBe(0);
    expect(shift.column('make')).toEqual(['done', 'done', 'todo']);
    expect(walkOf(events, 0)).toEqual(['in_progress -> qa', 'qa -> in_progress', 'in_progress -> qa', 'qa -> done']);
    const devs = devsOf(project, 'a');
    expect(devs.map(({ attempt }) => attempt)).toEqual(['1', '2']);
    expect(devs[1]!.prompt).toMatch(
      /<history-(\w+)>\nThis is attempt 2[\s\S]*independent qa[\s\S]*> - a is done\n> {3}it is blue\n<\/history-\1>/,
    );
    expect(devs[1]!.prompt).not.toContain('tried before');
    const finished = events.filter(({ type, index }) => type === 'dev:finished' && index === 0);
    expect(finished.map(({ attempts }) => attempts)).toEqual([1, 2]);

    const shown = (await project.run(['show', 'night', '1'])).stdout;
    expect(shown).toContain('attempt 1: FAILED (qa): a is done: it is blue');
    expect(shown).toContain('attempt 2: SUCCESS');
    expect(shown).toMatch(/qa: PASS/);
    expect((await project.run(['status', 'night'])).stdout).not.toContain('it is blue');
  },
);

test('Q3 P2 P6 in a batch the devs go again after the last qa, all at once; the size follows what came of it in the end', async () => {
  const project = new Project();
  const shift = rows(project, { 'qa-retries': 1, parallel: true, 'current-batch-size': 3 });
  const failing = (name: string) => ({
    report: { overall_status: 'FAIL', criteria: [{ criterion: `${name} is done`, status: 'FAIL', reason: 'no' }] },
  });
  // Both have to be there before either goes on.
  project.behave({
    'qa:a': failing('a'),
    'qa:c': failing('c'),
    'dev:a:2': {
      sh: 'touch .nightshift/met-a; until test -e .nightshift/met-c; do sleep 0.02; done',
      write: { 'behaviour.json': '{}' },
    },
    'dev:c:2': { sh: 'touch .nightshift/met-c; until test -e .nightshift/met-a; do sleep 0.02; done' },
  });
  const { code, events } = await shift.start();
  expect(code).toBe(0);
  const order = events
    .filter(({ type }) => type === 'dev:started' || type === 'qa:started')
    .map(({ type, index }) => `${type.split(':')[0]} ${index}`);
  expect(order.slice(0, 6).sort()).toEqual(['dev 0', 'dev 1', 'dev 2', 'qa 0', 'qa 1', 'qa 2']);
  expect(order.slice(6, 8).sort()).toEqual(['dev 0', 'dev 2']);
  expect(order.slice(8)).toEqual(['qa 0', 'qa 2']);
  expect(events.filter(({ type }) => type === 'batch:finished')).toEqual([
    expect.objectContaining({ from: 3, to: 6, done: 3, failed: 0, returned: 0 }),
  ]);
});

test('Q3 X1 attempts and qa-retries are both kept to; then the item is failed, with the reasons and all attempts', async () => {
  const project = new Project();
  const shift = rows(project, { 'qa-retries': 5 }, agentTask(undefined, undefined, '- attempts: 2'));
  project.behave({ qa: FAIL });
  const { code, events } = await shift.start(['--rows', '1']);
  expect(code).toBe(3);
  expect(devsOf(project, 'a').map(({ attempt }) => attempt)).toEqual(['1', '2']);
  expect(walkOf(events, 0).at(-1)).toBe('qa -> failed');
  const status = (await project.run(['status', 'night'])).stdout;
  expect(status).toMatch(/it is blue/);
  expect(status).toMatch(/2 attempts/);

  // Without qa-retries, a FAIL is final: it is what the default says.
  shift.manager = shift.manager.replace('- qa-retries: 5\n', '');
  const again = await shift.start(['--rows', '2']);
  expect(again.code).toBe(3);
  expect(devsOf(project, 'b').length).toBe(1);
});

test('Q3 Q4 a qa without a usable verdict, or in trouble, sends nothing back', async () => {
  const project = new Project();
  const shift = rows(project, { 'qa-retries': 2, patience: '1s' });
  project.behave({ 'qa:a': { exit: 1 }, 'qa:b': { exit: 75 } });
  await shift.start(['--rows', '1:2']);
  expect(shift.column('make')).toEqual(['failed', 'qa', 'todo']);
  expect([...devsOf(project, 'a'), ...devsOf(project, 'b')].map(({ attempt }) => attempt)).toEqual(['1', '1']);
});

test.each([
  ['as it is written that it goes back', 'item:recorded#2', 'in_progress'],
  ['when it waits for its second verdict', 'item:recorded#3', 'qa'],
])('T5 T3 Q3 killed %s, nothing is lost', async (_, point, left) => {
  const project = new Project();
  const shift = rows(project, { 'qa-retries': 1 });
  failsUntil(project, 'a', 2);
  const killed = await shift.start(['--rows', '1'], { env: { NIGHTSHIFT_CRASH_AT: point } });
  expect([killed.signal, shift.column('make')[0]]).toEqual(['SIGKILL', left]);
  project.behave({});
  const { code, events } = await shift.start(['--rows', '1']);
  expect(code).toBe(0);
  expect(shift.column('make')[0]).toBe('done');
  expect(events[0]).toMatchObject({ type: 'run:started', recovered: left === 'qa' ? 0 : 1 });
  // What was in progress begins anew; what had its second verdict to come is judged, and not done again.
  const devs = devsOf(project, 'a').map(({ attempt }) => Number(attempt));
  expect(devs.at(-1)).toBe(left === 'qa' ? 2 : 1);
  expect(devs.length).toBeGreaterThanOrEqual(2);
  if (left === 'in_progress')
    expect(devsOf(project, 'a').at(-1)!.prompt).toContain('tried before, and failed:\n> a is done: it is blue');
});

test('T5 Q3 what waited for its qa since an earlier run goes back, too, and counts what was used up then', async () => {
  const project = new Project();
  const shift = rows(project, { 'qa-retries': 1 });
  project.behave({});
  await shift.start(['--rows', '1'], { env: { NIGHTSHIFT_CRASH_AT: 'qa:started' } });
  expect(shift.column('make')[0]).toBe('qa');
  failsUntil(project, 'a', 2);
  const { code, events } = await shift.start(['--rows', '1']);
  expect(code).toBe(0);
  expect(walkOf(events, 0)).toEqual(['qa -> in_progress', 'in_progress -> qa', 'qa -> done']);
  expect(devsOf(project, 'a').map(({ attempt }) => attempt)).toEqual(['1', '2']);
});

test('Q3 X3 the agent shell does its Steps again, and a qa of another kind judges it', async () => {
  const project = new Project();
  const qa = agentTask().match(/- command: .*/)![0];
  const text = task({
    configuration: `- agent: shell\n- qa-agent: command\n${qa}\n- qa: always\n- qa-retries: 1`,
    steps: '1. Do it\n\n   ```sh\n   echo "$NIGHTSHIFT_ATTEMPT" >>tries\n   ```',
    validation: '- It is done\n\n   ```sh\n   true\n   ```',
  });
  const shift = rows(project, {}, text);
  project.behave({
    qa: { report: { overall_status: 'FAIL', criteria: [{ criterion: 'It is done', status: 'FAIL', reason: 'no' }] } },
  });
  const { code } = await shift.start(['--rows', '1']);
  expect(code).toBe(3);
  expect(project.read('tries')).toBe('1\n2\n');
});
