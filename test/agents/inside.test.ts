import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { agentTask, Project, ShiftHandle, shellTask, until } from '../harness.ts';
import { bash, type Move, scripted } from './inside-model.ts';
import { startInside } from './inside-server.ts';
import { programFolder } from './programs.ts';

const { model, server } = await startInside();

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
  project.shift('shop', { table: 'name,draft\na,todo\n', tasks: { draft: agentTask() } });
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
