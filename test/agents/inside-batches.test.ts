import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle } from '../harness.ts';
import { bash, type Move, scripted, type Talk } from './inside-model.ts';
import { playItem, playManager } from './inside-play.ts';
import { startInside } from './inside-server.ts';

const { model, server } = await startInside();

const VALUE = 'k3y-of-the-test';
const CHECKED = '- It is there\n\n  ```sh\n  test -s {name}.txt\n  ```';

async function newShift(status: string, names: readonly string[], task: string): Promise<ShiftHandle> {
  const project = new Project();
  const shift = project.shift('site', {
    settings: { parallel: true },
    table: `name,draft\n${names.map((name) => `${name},${status}\n`).join('')}`,
    tasks: { draft: task },
    env: `API_KEY=${VALUE}\n`,
  });
  await project.run(['init']);
  return shift;
}

function playAll(talk: Talk): Move {
  return talk.player === 'manager' ? playManager(talk) : playItem(talk, {});
}

test('P6 P8 T5 O3 three items that wait at qa are judged one at a time, by the time stamps of the Task calls', async () => {
  const shift = await newShift('qa', ['a', 'b', 'c'], agentTask());
  model.play = playAll;
  const calls = await server.in(shift.project.root).ask('nightshift-manager', 'Run the shift site.');
  const judged = calls.filter(({ tool }) => tool === 'task');
  expect(judged.map(({ input }) => input.subagent_type)).toEqual(Array(3).fill('nightshift-qa'));
  for (const [i, { start }] of judged.entries()) expect(start).toBeGreaterThanOrEqual(judged[i - 1]?.end ?? 0);
  expect(shift.column('draft')).toEqual(['done', 'done', 'done']);
  expect(shift.manager).toContain('- Completed: 3');
});

test('D1 T6 O3 a dev has the values in its prompt and its shell, its manager never; a second window steals nothing', async () => {
  const steps = '1. Write {ENV:API_KEY} into {name}.txt';
  const shift = await newShift('todo', ['a'], agentTask(steps, CHECKED, '- tools: bash'));
  const folder = server.in(shift.project.root);
  const tried: string[] = [];
  const read: string[] = [];
  model.play = async (talk) => {
    const { player, answers } = talk;
    if (player === 'manager') return playManager(talk);
    if (answers.length === 0) return playItem(talk, {});
    if (answers.length === 1) {
      read.push(answers[0]!.join(''));
      // Another conversation, while this one is at work.
      const others = ['open site', 'open site --take-over', 'close site --give-back'];
      const calls = others.map((words) => bash(`nightshift batch ${words}`));
      for (const { output } of await folder.ask('nightshift-manager', scripted([{ calls }]))) tried.push(output);
      return { calls: [bash('printenv API_KEY > a.txt')] };
    }
    if (answers.length === 2) return playItem({ ...talk, answers: answers.slice(0, 1) }, {});
    return { text: `I have used ${VALUE}.` };
  };
  const session = await folder.session();
  const calls = await folder.askIn(session, 'nightshift-manager', 'Run the shift site.');
  expect(read[0]).toContain(`1. Write ${VALUE} into a.txt`);
  expect(shift.project.read('a.txt')).toBe(`${VALUE}\n`);
  expect(tried).toHaveLength(3);
  for (const output of tried) expect(output).toContain('another conversation works on it');
  expect(shift.column('draft')).toEqual(['done']);
  expect(calls.find(({ tool }) => tool === 'task')!.output).toContain('I have used [API_KEY].');
  expect(JSON.stringify(calls)).not.toContain(VALUE);
});

test('O5 M6 a manager whose context OpenCode has compacted is refused a batch, and told what to answer', async () => {
  const shift = await newShift('todo', ['a'], agentTask());
  const folder = server.in(shift.project.root);
  const sessionID = await folder.session();
  const open = scripted([{ calls: [bash('nightshift batch open site')] }]);
  await folder.askIn(sessionID, 'nightshift-manager', scripted([]));
  await folder.client.session.summarize(
    { sessionID, providerID: 'loopback', modelID: 'scripted' },
    { throwOnError: true },
  );
  const calls = await folder.askIn(sessionID, 'nightshift-manager', open);
  expect(calls).toMatchObject([{ status: 'error', output: expect.stringContaining('`Compacted: true`') }]);
  expect(shift.column('draft')).toEqual(['todo']);
  expect(await folder.ask('nightshift-manager', open)).toMatchObject([{ status: 'completed' }]);
  expect(shift.column('draft')).toEqual(['in_progress']);
});

test('Q4 O3 an item whose agents never write a status is started three times, and then failed', async () => {
  const shift = await newShift('todo', ['a'], agentTask());
  model.play = (talk) => (talk.player === 'manager' ? playManager(talk) : { text: 'I have other plans.' });
  const calls = await server.in(shift.project.root).ask('nightshift-manager', 'Run the shift site.');
  expect(calls.filter(({ tool }) => tool === 'task')).toHaveLength(3);
  expect(shift.column('draft')).toEqual(['failed']);
  expect((await shift.project.run(['status', 'site'])).stdout).toContain('its dev ended without a status 3 times');
});
