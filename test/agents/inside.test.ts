import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { agentTask, Project, ShiftHandle, shellTask, until } from '../harness.ts';
import { bash, type Move, scripted, type Talk } from './inside-model.ts';
import { type Fates, nameIn, playItem, playManager, playStart } from './inside-play.ts';
import { startInside } from './inside-server.ts';
import { programFolder } from './programs.ts';

const { model, server } = await startInside();

/** Everybody does what the kit's texts say. The agents of one message wait for each other: one at a time, they would wait forever. */
function playAll(fates: Fates): (talk: Talk) => Promise<Move> {
  let expected = 0;
  let arrived = 0;
  return async (talk) => {
    if (talk.player === 'person') return playStart(talk);
    if (talk.player === 'manager') {
      const move = playManager(talk);
      arrived = 0;
      expected = 'calls' in move ? move.calls.length : 0;
      return move;
    }
    if (talk.answers.length === 0) {
      arrived++;
      await until(() => arrived >= expected, `${expected} agents at the same time`, 120_000);
    }
    return playItem(talk, fates);
  };
}

const CHECKED = '- It is checked\n\n  ```sh\n  true\n  ```';
/** The second needs no qa: that keeps the play short. */
const tasks = {
  draft: agentTask('1. Draft {name}', '- {name} reads well'),
  check_it: agentTask('1. Check {name}', CHECKED),
};
const names = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
const LESSON = 'Look at the examples first';

function newShift(): ShiftHandle {
  return new Project().shift('site', {
    settings: { parallel: true },
    table: `name,draft,check_it\n${names.map((name) => `${name},todo,todo\n`).join('')}`,
    tasks,
  });
}

const sizesOf = (shift: ShiftHandle) =>
  shift
    .journal()
    .filter(({ type }) => type === 'batch:claimed')
    .map(({ task, size, indices }) => [task, size, indices.length]);

test('O3 O4 O5 L5 a shift run wholly by the manager agent ends as with `nightshift start`', async () => {
  const shift = newShift();
  const { project } = shift;
  await project.run(['init']);
  model.play = playAll({ devFails: ['c'], qaFails: ['e'], recommends: { a: LESSON } });
  model.talks.length = 0;
  const folder = server.in(project.root);
  const { calls, text, sessionID } = await folder.command('nightshift-start', 'site');
  expect(calls.map(({ tool, status }) => [tool, status])).toEqual([
    ['bash', 'completed'],
    ['task', 'completed'],
    ['bash', 'completed'],
  ]);
  expect(text).toMatch(/^site: 7 items, 5 completed, 2 failed, 0 remaining/);

  // Each batch was started in one message.
  const managers = await folder.children(sessionID);
  expect(managers).toHaveLength(1);
  const started = (await folder.calls(managers[0]!)).filter(({ tool }) => tool === 'task');
  const messages = started
    .filter(({ input }) => input.subagent_type === 'nightshift-dev')
    .map(({ message }) => message);
  const sizes = sizesOf(shift);
  expect([...new Set(messages)].map((id) => messages.filter((message) => message === id).length)).toEqual(
    sizes.map(([, , length]) => length),
  );
  expect(sizes.slice(0, 3)).toEqual([
    ['draft', 2, 2],
    ['draft', 4, 4],
    ['draft', 2, 1],
  ]);
  // Whose dev failed never reaches a qa; what a dev recommended is in the prompts of the batch after.
  const prompts = model.talks
    .filter(({ answers }) => answers.length === 1)
    .map(({ player, answers }) => [player, answers[0]!.join('')] as const);
  const read = (player: string, name: string) =>
    prompts.filter(([who, prompt]) => who === player && nameIn(prompt) === name).map(([, prompt]) => prompt);
  expect(names.map((name) => [read('dev', name).length, read('qa', name).length])).toEqual(
    names.map((name) => (name === 'c' ? [1, 0] : name === 'e' ? [1, 1] : [2, 1])),
  );
  expect(names.filter((name) => read('dev', name)[0]!.includes(LESSON))).toEqual(['c', 'd', 'e', 'f', 'g']);

  const engine = newShift();
  const failed = (reason: string) => ({ report: { overall_status: 'FAILED', error: reason } });
  engine.project.behave({
    'dev:c': failed('nothing works for c'),
    'qa:e': {
      report: { overall_status: 'FAIL', criteria: [{ criterion: 'e reads well', status: 'FAIL', reason: 'no' }] },
    },
    'dev:a:1': { report: { overall_status: 'SUCCESS', recommendations: [LESSON] } },
    manager: { report: { changes: [{ op: 'add', after: 1, text: LESSON }], summary: 'what was recommended' } },
  });
  await engine.start();
  expect(shift.tableText).toBe(engine.tableText);
  expect(shift.manager).toBe(engine.manager);
  expect(sizes).toEqual(sizesOf(engine));
  expect(shift.task('draft')).toBe(engine.task('draft'));
});

test('O5 a manager that says `Compacted: true`, or neither line, is followed by a fresh one; a killed one by the next start', async () => {
  const project = new Project();
  const shift = project.shift('site', {
    table: 'name,draft\na,todo\nb,todo\nc,todo\n',
    tasks: { draft: tasks.draft },
  });
  await project.run(['init']);
  const all = playAll({});
  const last = ['Compacted: true', 'I do not know what I was doing.'];
  const first: Talk[] = [];
  model.talks.length = 0;
  model.play = async (talk) => {
    if (talk.player === 'manager' && talk.answers.length === 0) first.push(talk);
    const isClosed = talk.answers.at(-1)?.join('').includes('Batch of draft closed') ?? false;
    if (talk.player === 'manager' && isClosed && last.length > 0) return { text: last.shift()! };
    if (talk.player === 'dev' && talk.answers.length === 1 && nameIn(talk.answers[0]!.join('')) === 'c')
      return { hang: true };
    return await all(talk);
  };
  void server
    .in(project.root)
    .command('nightshift-start', 'site')
    .catch(() => {});
  await until(
    () => model.talks.some(({ player, answers }) => player === 'dev' && nameIn(answers[0]?.join('') ?? '') === 'c'),
    'the third dev',
    200_000,
  );
  expect(first).toHaveLength(3);
  expect(shift.column('draft')).toEqual(['done', 'done', 'in_progress']);
  await server.kill();

  await server.start();
  model.play = playAll({});
  const { text, sessionID } = await server.in(project.root).command('nightshift-start', 'site');
  expect(text).toMatch(/^site: 3 items, 3 completed/);
  const [manager] = await server.in(project.root).children(sessionID);
  const commands = (await server.in(project.root).calls(manager!)).map(({ input }) => input.command);
  expect(commands[0]).toBe('nightshift batch open site');
  expect(shift.column('draft')).toEqual(['done', 'done', 'done']);
});

test('O1 the six commands do in OpenCode what they are named for', async () => {
  const project = new Project();
  await project.run(['init']);
  project.write('items.csv', 'name\na\nb\n');
  const folder = server.in(project.root);
  /** The conversation's own model does this; what it was told, and what its last tool said. */
  const type = async (name: string, words: string, ...moves: Move[]) => {
    model.play = ({ answers }) => moves[answers.length] ?? { text: 'That was all.' };
    const from = model.talks.length;
    const { calls } = await folder.command(`nightshift-${name}`, words);
    expect(calls.map(({ status }) => status)).toEqual(moves.map(() => 'completed'));
    return { told: model.talks[from]!.prompt, said: calls.at(-1)!.output };
  };
  const run = (command: string): Move => ({ calls: [bash(command)] });

  const created = await type(
    'create',
    'shop from items.csv',
    run('nightshift create shop --from items.csv --agent shell'),
  );
  expect(created.told).toContain('wants a new shift: shop from items.csv');
  expect(project.exists('.nightshift/shop/manager.md')).toBe(true);

  const text = shellTask('echo {name} > {name}.txt', 'test -s {name}.txt');
  const write: Move = { calls: [{ tool: 'write', input: { filePath: 'label.md', content: text } }] };
  const add = 'nightshift add-task shop label --from label.md';
  const added = await type('add-task', 'label in shop', write, run(add), run('nightshift preview shop label --row 1'));
  expect(added.told).toContain('## Validation');
  expect(added.said).toContain('NIGHTSHIFT_V_name = "a"');

  const updated = await type('update-table', 'shop: add c', run('nightshift table shop add name=c'));
  expect(updated.told).toContain('Never edit table.csv with another tool');
  const shift = new ShiftHandle(project, 'shop');
  expect(shift.column('name')).toEqual(['a', 'b', 'c']);

  const tried = await type('test-task', 'shop label row 2', run('nightshift test-task shop label --row 2'));
  expect(tried.told).toContain('shop label row 2');
  expect(project.read('b.txt')).toBe('b\n');
  expect(shift.column('label')).toEqual(['todo', 'todo', 'todo']);

  const started = await type('start', 'shop background', run('nightshift start shop --detach'));
  expect(started.told).toMatch(/^The shift: shop$/m);
  expect(started.told).toContain('What else the person typed: background');
  await until(() => shift.column('label').every((status) => status === 'done'), 'the background run', 60_000);

  const archived = await type('archive', 'shop', run('nightshift archive shop'));
  expect(archived.told).toContain('First run `nightshift status shop`');
  expect([project.exists('.nightshift/shop'), project.exists('.nightshift/archive')]).toEqual([false, true]);
});

test('the MCP server of Nightshift works inside OpenCode', async () => {
  const project = new Project();
  project.write(
    'opencode.json',
    JSON.stringify({ mcp: { nightshift: { type: 'local', command: ['nightshift', 'mcp'] } } }),
  );
  const create = { tool: 'nightshift_create_shift', input: { shift: 'shop', csv: 'name\na\nb\n', agent: 'shell' } };
  const status = { tool: 'nightshift_status', input: { shift: 'shop' } };
  const calls = await server.in(project.root).ask('build', scripted([{ calls: [create] }, { calls: [status] }]));
  expect(calls.map(({ status: ended }) => ended)).toEqual(['completed', 'completed']);
  expect(calls[1]!.output).toContain('2 items');
  expect(new ShiftHandle(project, 'shop').column('name')).toEqual(['a', 'b']);
});

test('O1 in Claude Code a command is told its shift', async () => {
  const project = new Project();
  const home = new Project();
  project.shift('shop', { table: 'name,draft\na,todo\n', tasks: { draft: tasks.draft } });
  await project.run(['init', '--agent', 'claude']);
  model.play = () => ({ text: 'Seen.' });
  const env = {
    ...process.env,
    HOME: home.root,
    PATH: `${server.programs}:${process.env.PATH}`,
    ANTHROPIC_BASE_URL: model.url,
    ANTHROPIC_API_KEY: 'sk-ant-of-the-test',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
  };
  const claude = join(programFolder('claude'), 'claude');
  for (const command of ['/nightshift-start shop background', '/nightshift-archive shop']) {
    const running = promisify(execFile)(claude, ['-p', '--model', 'claude-sonnet-4-5', command], {
      env,
      cwd: project.root,
    });
    running.child.stdin?.end();
    expect((await running).stdout).toBe('Seen.\n');
    expect(model.talks.at(-1)!.prompt).toMatch(/^The shift: shop$/m);
    expect(model.talks.at(-1)!.prompt).toContain('First run `nightshift status shop`');
  }
});
