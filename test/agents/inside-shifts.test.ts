import { cpSync } from 'node:fs';
import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle, shellTask, until } from '../harness.ts';
import { bash, scripted, type Talk } from './inside-model.ts';
import { behaviourOf, type Fates, nameIn, playAll } from './inside-play.ts';
import { type Called, startInside } from './inside-server.ts';

const { model, server } = await startInside();

const LESSON = 'Look at the examples first';
const draft = agentTask('1. Draft {name}', '- It reads well');
/** It needs no qa: that keeps a play short. */
const check = shellTask('true');

/** Two shifts with the same files: one for the agents inside OpenCode, one for `nightshift start`. */
async function twoShifts(parts: Parameters<Project['shift']>[1]): Promise<[ShiftHandle, ShiftHandle]> {
  const settings = { agent: 'shell', ...parts.settings };
  const newShift = () => new Project().shift('site', { ...parts, settings });
  const shift = newShift();
  await shift.project.run(['init']);
  model.talks.length = 0;
  return [shift, newShift()];
}

function expectSame(shift: ShiftHandle, engine: ShiftHandle, tasks: readonly string[]): void {
  expect(shift.tableText).toBe(engine.tableText);
  expect(shift.manager).toBe(engine.manager);
  for (const task of tasks) expect(shift.task(task)).toBe(engine.task(task));
  expect(batchesOf(shift)).toEqual(batchesOf(engine));
}

/** The task of each batch, its size as planned, and the indices of its items. */
const batchesOf = (shift: ShiftHandle) =>
  shift
    .journal()
    .filter(({ type }) => type === 'batch:claimed')
    .map(({ task, size, indices }) => [task, size, indices]);

/** The prompt files that agents have read, in order. */
const promptsRead = () =>
  model.talks
    .filter(({ player, answers }) => ['dev', 'qa'].includes(player) && answers.length === 1)
    .map(({ player, answers: [read] }) => {
      const prompt = read!.join('');
      return { who: `${player} ${/ edit (\w+) /.exec(prompt)![1]} ${nameIn(prompt)}`, prompt };
    });

/** The calls of the manager that the conversation of /nightshift-start has started. */
async function managerCalls(shift: ShiftHandle, sessionID: string): Promise<Called[]> {
  const folder = server.in(shift.project.root);
  const managers = await folder.children(sessionID);
  expect(managers).toHaveLength(1);
  return await folder.calls(managers[0]!);
}

test('O3 O4 O5 M3 M4 P1 P2 P6 P7 L1 L2 L5 with `parallel: true` a shift ends as with `nightshift start`', async () => {
  const names = ['a', 'b', 'c', 'd', 'e'];
  const [shift, engine] = await twoShifts({
    settings: { parallel: true, 'max-batch-size': 3 },
    table: `name,draft,check_it\n${names.map((name) => `${name},todo,todo\n`).join('')}`,
    tasks: { draft, check_it: check },
  });
  const recommends = { a: LESSON, b: LESSON, c: 'Never finish', e: 'Skip the examples' };
  const fates: Fates = { devFails: ['c'], qaFails: ['e'], recommends };
  const play = playAll(fates);
  const claimed: number[] = [];
  model.play = (talk) => {
    const isFirst = talk.player === 'dev' && talk.answers.length === 0;
    if (isFirst) claimed.push(shift.tableText.split('in_progress').length - 1);
    return play(talk);
  };
  const { calls, text, sessionID } = await server.in(shift.project.root).command('nightshift-start', 'site');
  expect(calls.map(({ tool, status }) => [tool, status])).toEqual([
    ['bash', 'completed'],
    ['task', 'completed'],
    ['bash', 'completed'],
  ]);
  expect(text).toMatch(/^site: 5 items, 3 completed, 2 failed, 0 remaining/);
  expect(batchesOf(shift)).toEqual([
    ['draft', 2, [0, 1]],
    ['draft', 3, [2, 3, 4]],
    ['check_it', 1, [0]],
    ['check_it', 2, [1, 3]],
  ]);
  // Each batch was claimed before its first dev began, and its devs were started in one message.
  expect(claimed).toEqual([2, 2, 3, 3, 3, 1, 2, 2]);
  const ofManager = await managerCalls(shift, sessionID);
  const started = ofManager.filter(({ tool }) => tool === 'task');
  const messages = started
    .filter(({ input }) => input.subagent_type === 'nightshift-dev')
    .map(({ message }) => message);
  const inOne = (id: string) => messages.filter((message) => message === id).length;
  expect([...new Set(messages)].map(inOne)).toEqual([2, 3, 1, 2]);
  // A qa starts when everybody before it has ended.
  for (const [i, { input, start }] of started.entries()) {
    const others = input.subagent_type === 'nightshift-qa' ? started.slice(0, i) : [];
    for (const { end } of others) expect(start).toBeGreaterThanOrEqual(end);
  }
  // Whose dev failed never reaches a qa, and who failed never reaches the next task.
  const read = promptsRead();
  const qas = ['a', 'b', 'd', 'e'].map((name) => `qa draft ${name}`);
  expect(read.map(({ who }) => who).filter((who) => who.startsWith('qa'))).toEqual(qas);
  // What two devs recommended is folded in once, for the next batch. What c and e recommended is not.
  const devs = read.filter(({ who }) => who.startsWith('dev draft'));
  expect(devs.map(({ prompt }) => prompt.split(LESSON).length - 1)).toEqual([0, 0, 1, 1, 1]);
  expect(ofManager.filter(({ input }) => input.command?.includes('same_as'))).toHaveLength(1);

  engine.project.behave(behaviourOf(fates, LESSON));
  expect((await engine.start()).code).toBe(3);
  expectSame(shift, engine, ['draft', 'check_it']);
});

const PLACES = '1. Draft {name} for {SHIFT:NAME} in {SHIFT:FOLDER}out, not in {SHIFT:TABLE}';
const ADDED = 'check_it.md';
/** What a person does while the first item is in flight. */
const EDITS = ['table site add name=c', 'table site add-column size', `add-task site check_it --from ${ADDED}`];

test('M1 M2 M4 M5 T4 P5 D1 D3 D4 Q3 L1 L2 V1 X1 O3 without `parallel` one row at a time, and what a person adds meanwhile, as with `nightshift start`', async () => {
  const [shift, engine] = await twoShifts({
    settings: { 'current-batch-size': 3, 'max-batch-size': 4 },
    table: 'name,draft\na,todo\nb,todo\n',
    tasks: { draft: agentTask(PLACES, '- It reads well', '- outputs: url') },
  });
  const fates: Fates = { devFails: ['b'], qaFails: ['c'], recommends: { a: LESSON, b: 'Give up', c: 'Hurry' } };
  const folder = server.in(shift.project.root);
  for (const { project } of [shift, engine])
    project.write(ADDED, shellTask('echo {url}', 'test {url} = "url-of-{name}"'));
  const play = playAll(fates);
  let edits: Called[] = [];
  model.play = async (talk) => {
    if (talk.player === 'dev' && talk.answers.length === 1 && edits.length === 0) {
      const status = 'table site edit draft 1 done';
      // One for each turn: OpenCode runs the calls of a turn at the same time.
      const turns = [...EDITS, status].map((words) => ({ calls: [bash(`nightshift ${words}`)] }));
      edits = await folder.ask('build', scripted(turns));
    }
    return await play(talk);
  };
  const { text, sessionID } = await folder.command('nightshift-start', 'site');
  expect(text).toMatch(/^site: 3 items, 1 completed, 2 failed, 0 remaining/);
  expect(edits.at(-1)!.output).toContain('a batch of site is open');
  const read = promptsRead();
  const qa = ['dev draft c', 'qa draft c'];
  expect(read.map(({ who }) => who)).toEqual(['dev draft a', 'qa draft a', 'dev check_it a', 'dev draft b', ...qa]);
  // An agent is given its own item and nothing of others.
  const path = shift.project.path(shift.folder);
  expect(read[0]!.prompt).toContain(`1. Draft a for site in ${path}/out, not in ${path}/table.csv`);
  for (const { who, prompt } of read) {
    const others = ['a', 'b', 'c'].filter((name) => !who.endsWith(name));
    for (const name of others) expect(prompt).not.toMatch(new RegExp(`"${name}"|url-of-${name}|Draft ${name}`));
  }
  const printed = (await managerCalls(shift, sessionID)).map(({ output }) => output).join('\n');
  const progress = [...printed.matchAll(/^Progress: (\S+) items(?:, \S+ item-tasks)?\. Compacted: false$/gm)].map(
    ([, counts]) => counts,
  );
  expect(progress).toEqual(['0/3', '1/3', '1/3', '1/3']);
  const { stdout } = await shift.project.run(['status', 'site']);
  expect(stdout).toMatch(/nothing works for b.*3 attempts|3 attempts.*nothing works for b/s);
  expect(stdout).toContain('nothing works for c');
  expect(shift.manager).toContain('- current-batch-size: 3\n- max-batch-size: 4\n');

  const { 'dev:a': first, ...rest } = behaviourOf(fates, LESSON);
  engine.project.behave({ ...rest, 'dev:a': { ...first, sh: 'until test -e .nightshift/go; do sleep 0.1; done' } });
  const running = engine.spawn();
  await until(() => engine.project.calls().length > 0, 'the first dev', 60_000);
  for (const words of EDITS) expect(await engine.project.run(words.split(' '))).toMatchObject({ code: 0 });
  engine.project.write('.nightshift/go', '');
  expect((await running.ended).code).toBe(3);
  expectSame(shift, engine, ['draft', 'check_it']);
});

test('O5 M6 T5 P2 P3 P8 L5 a manager that says `Compacted: true`, or neither line, is followed by a fresh one; a killed batch is resumed as by `nightshift start`', async () => {
  const [shift, engine] = await twoShifts({
    settings: { parallel: true, 'current-batch-size': 1, 'disable-self-improvement': true },
    table: 'name,draft\na,todo\nb,todo\nc,todo\nd,todo\n',
    tasks: { draft },
  });
  const { project } = shift;
  const task = shift.task('draft');
  const fates: Fates = { qaFails: ['a'], recommends: { b: LESSON, c: LESSON } };
  const all = playAll(fates);
  const last = ['Compacted: true', 'I do not know what I was doing.'];
  const first: Talk[] = [];
  model.play = async (talk) => {
    const { player, answers } = talk;
    if (player === 'manager' && answers.length === 0) first.push(talk);
    const isOver = answers.at(-1)?.join('').includes('The Steps stay as they are') ?? false;
    if (player === 'manager' && isOver && last.length > 0) return { text: last.shift()! };
    const isStuck = player === 'dev' && answers.length === 1 && nameIn(answers[0]!.join('')) === 'd';
    return isStuck ? { hang: true } : await all(talk);
  };
  void server
    .in(project.root)
    .command('nightshift-start', 'site')
    .catch(() => {});
  const isStuck = () => promptsRead().some(({ who }) => who === 'dev draft d') && shift.column('draft')[2] === 'qa';
  await until(isStuck, 'one item at qa and one that hangs', 250_000);
  expect(first).toHaveLength(3);
  expect(shift.column('draft')).toEqual(['failed', 'done', 'qa', 'in_progress']);
  await server.kill();
  cpSync(project.root, engine.project.root, { recursive: true });

  await server.start();
  model.talks.length = 0;
  model.play = playAll(fates);
  const { text, sessionID } = await server.in(project.root).command('nightshift-start', 'site');
  expect(text).toMatch(/^site: 4 items, 3 completed, 1 failed, 0 remaining/);
  const commands = (await managerCalls(shift, sessionID)).map(({ input }) => input.command);
  expect(commands[0]).toBe('nightshift batch open site');
  expect(promptsRead().map(({ who }) => who)).toEqual(['qa draft c', 'dev draft d', 'qa draft d']);
  expect(batchesOf(shift)).toEqual([
    ['draft', 1, [0]],
    ['draft', 1, [1]],
    ['draft', 2, [2, 3]],
    ['draft', 2, [3]],
  ]);
  expect(shift.task('draft')).toBe(task);

  engine.project.behave(behaviourOf(fates));
  expect((await engine.start()).code).toBe(3);
  expectSame(shift, engine, ['draft']);
});

test('M7 O5 already complete, no items, no tasks, archived: the manager is told what `nightshift start` says, and starts nobody', async () => {
  const project = new Project();
  for (const [name, table] of Object.entries({ complete: 'a,done\n', gone: 'a,done\n', empty: '', idle: 'a,todo\n' })) {
    project.shift(name, { table: `name,draft\n${table}`, tasks: name === 'idle' ? {} : { draft } });
  }
  await project.run(['init']);
  await project.run(['archive', 'gone']);
  const calls = ['complete', 'empty', 'idle', 'gone'].map((name) => bash(`nightshift batch open ${name}`));
  const folder = server.in(project.root);
  const [complete, ...refused] = await folder.ask('nightshift-manager', scripted([{ calls }]));
  expect(complete!.output).toContain('Nothing is left to do: already complete.');
  for (const [i, name] of ['empty', 'idle', 'gone'].entries()) {
    const { stderr } = await project.run(['start', name]);
    expect(stderr).toContain(name);
    expect(refused[i]!.output.trim()).toBe(stderr.trim());
  }
  model.play = playAll({});
  model.talks.length = 0;
  const { text } = await folder.command('nightshift-start', 'empty');
  expect(text).toMatch(/^Stopped: error: empty has no items/);
  expect(model.talks.filter(({ player }) => ['dev', 'qa'].includes(player))).toEqual([]);
});
