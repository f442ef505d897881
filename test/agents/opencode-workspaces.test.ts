import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { processesOf, until } from '../harness.ts';
import { Repository } from '../kit/real-git.ts';
import { Model, type Step, SUCCESS } from './model.ts';
import { opencode } from './opencode.ts';
import { type Case, caseFor, commandOf, folderOf, marksOf } from './under-test.ts';

describe('opencode in workspaces', () => {
  let model: Model;
  beforeAll(async () => {
    model = await Model.start();
  });
  afterAll(() => model.stop());

  const PATIENCE = 120_000;
  const VALIDATION = '- it is written\n\n  ```sh\n  test -s {name}.txt\n  ```';

  /** Two at once of three rows: each uses its MCP server, says where it is, and waits for its name in `.nightshift`. */
  function night() {
    const one = caseFor(opencode, model, { servers: ['alpha'] });
    const repository = new Repository(one.project.root, { '.gitignore': '.nightshift\nmarks\n', 'a.txt': 'a\n' });
    const names = ['a', 'b', 'c'].map(one.unique);
    const go = (name: string) => one.project.path(`.nightshift/${name}`);
    const dev = (name: string): Step[] => [
      { tool: 'alpha_mark', input: { text: name } },
      opencode.tools.write(`${name}.txt`, 'written\n'),
      opencode.tools.bash(`pwd -P > here.txt; touch ${go(name)}.here; until test -e ${go(name)}; do sleep 0.1; done`),
      { report: SUCCESS },
    ];
    const shift = one.shift(
      names.map((name) => ({ name, dev: dev(name) })),
      {
        settings: { workspace: 'worktree', deliver: 'branch', parallel: true, dispatch: 'stream', 'max-batch-size': 2 },
        configuration: '- tools: alpha, bash',
        validation: VALIDATION,
      },
    );
    const marked = () => processesOf(one.project.path(shift.folder));
    const isAt = (name: string) => one.project.exists(`.nightshift/${name}.here`);
    return { one, shift, names, repository, marked, isAt };
  }

  const serversIn = (pids: readonly number[]) => pids.filter((pid) => commandOf(pid).startsWith('opencode serve'));
  const mcpIn = (pids: readonly number[]) => pids.filter((pid) => commandOf(pid).includes('mcp-server.mjs'));
  const foldersOf = (pids: readonly number[]) => pids.map(folderOf).sort();
  const workspacesOf = (one: Case, names: readonly string[]) =>
    names.map((name) => expect.stringMatching(new RegExp(`^${one.home.path('.local/state')}/.*-${name}$`)));

  test('W5 D2 items at once have an MCP server each, in their own folder, which ends with its item', async () => {
    const { one, shift, names, repository, marked, isAt } = night();
    const [a = '', b = '', c = ''] = names;
    const running = one.spawn(shift);
    await until(() => isAt(a) && isAt(b), 'both items', PATIENCE);
    expect(foldersOf(mcpIn(marked()))).toEqual(workspacesOf(one, [a, b]));
    expect(serversIn(marked())).toHaveLength(1);
    for (const name of [a, b]) one.project.write(`.nightshift/${name}`, '');
    await until(() => isAt(c), 'the third item', PATIENCE);
    await until(() => mcpIn(marked()).length === 1, 'the end of the first two MCP servers', PATIENCE);
    expect(foldersOf(mcpIn(marked()))).toEqual(workspacesOf(one, [c]));
    one.project.write(`.nightshift/${c}`, '');
    const { code, events } = await running.ended;
    expect([code, shift.column('work')], JSON.stringify(events.at(-1))).toEqual([0, ['done', 'done', 'done']]);
    expect(marked()).toEqual([]);
    expect(marksOf(one.project).sort()).toEqual(names.map((name) => `alpha: ${name}`));
    // Relative paths of its tools, and its shell, are in the workspace.
    const show = (name: string, file: string) => repository.git('show', `nightshift/night/${name}:${file}`);
    for (const name of names) {
      expect(show(name, `${name}.txt`)).toBe('written');
      expect(show(name, 'here.txt')).toEqual(workspacesOf(one, [name])[0]);
    }
  });

  test('W5 R6 the MCP server of an item that is withdrawn ends at once, and those of all when the run is stopped', async () => {
    const { one, shift, names, marked, isAt } = night();
    const [a = '', b = '', c = ''] = names;
    const running = one.spawn(shift);
    await until(() => isAt(a) && isAt(b), 'both items', PATIENCE);
    await one.project.run(['table', 'night', 'remove', '--row', '1']);
    expect(await running.seen('item:withdrawn')).toMatchObject({ index: 0 });
    await until(() => isAt(c), 'the third item', PATIENCE);
    await until(() => mcpIn(marked()).length === 2, 'the end of the first MCP server', PATIENCE);
    expect(foldersOf(mcpIn(marked()))).toEqual(workspacesOf(one, [b, c]));
    expect(foldersOf(marked())).not.toContainEqual(workspacesOf(one, [a])[0]);
    running.kill('SIGINT');
    await running.seen('run:draining');
    running.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    expect(marked()).toEqual([]);
    expect(shift.column('work')).toEqual(['todo', 'todo']);
  });
});
