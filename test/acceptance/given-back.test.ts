import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle, shellTask } from '../harness.ts';

function fiveRows(project: Project, settings: Record<string, string | boolean>, task: string): ShiftHandle {
  const table = 'name,make\nbad,todo\nb,todo\nc,todo\nd,todo\ne,todo\n';
  return project.shift('night', { settings, table, tasks: { make: task } });
}

const BUSY = 'if [ {name} = bad ]; then echo the queue is full; exit 75; fi';

test('X5 a block that always exits 75 fails its item at the third time, and holds up no other', async () => {
  const project = new Project();
  const shift = fiveRows(project, { agent: 'shell', parallel: true }, shellTask(BUSY));
  const { code, events } = await shift.start();
  expect(code).toBe(3);
  expect(shift.column('make')).toEqual(['failed', 'done', 'done', 'done', 'done']);
  expect(events.filter(({ type }) => type === 'item:returned').map(({ index }) => index)).toEqual([0, 0]);
  const reason = 'given back three times while other items were done: step 1: exit code 75: the queue is full';
  expect(events.find(({ type, to }) => type === 'item:recorded' && to === 'failed')).toMatchObject({
    index: 0,
    reason,
  });
  const status = await project.run(['status', 'night']);
  expect(status.stdout).toContain(reason);
});

test('X5 a check that exits 75 gives the item back, and uses up no attempt', async () => {
  const project = new Project();
  const wait = 'test -e ready || { touch ready; echo not yet; exit 75; }';
  const shift = fiveRows(project, { agent: 'shell' }, shellTask('true', wait));
  const { code, events } = await shift.start(['--rows', '1']);
  expect(code).toBe(0);
  expect(events.find(({ type }) => type === 'item:returned').reason).toBe('a check: exit code 75: not yet');
  expect(events.filter(({ type }) => type === 'attempt:finished').map(({ attempt }) => attempt)).toEqual([1]);
});

test('X5 Q4 a qa that always exits 75 leaves its item at qa, gives way to others, and fails it at the third time', async () => {
  const project = new Project();
  const shift = fiveRows(project, {}, agentTask());
  project.behave({ 'qa:bad': { exit: 75, stderr: 'no judge is free' } });
  const { code, events } = await shift.start();
  expect(code).toBe(3);
  expect(shift.column('make')).toEqual(['failed', 'done', 'done', 'done', 'done']);
  const failed = events.find(({ type, to }) => type === 'item:recorded' && to === 'failed');
  expect(failed).toMatchObject({ index: 0, from: 'qa' });
  expect(failed.reason).toMatch(/^given back three times while other items were done: .*no judge is free/);
  expect(project.calls().filter(({ role, name, ended }) => role === 'dev' && name === 'bad' && !ended).length).toBe(1);
});
