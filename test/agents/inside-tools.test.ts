import { rmSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { agentTask, Project } from '../harness.ts';
import { bash, type Call, type Move, scripted, type Talk, taskCall } from './inside-model.ts';
import { playItem, playManager, playStart } from './inside-play.ts';
import { startInside } from './inside-server.ts';

const { model, server } = await startInside();

const SERVERS = ['alpha', 'alpha_two', 'beta'];

/** A shift with these tasks, by what their `tools:` name. */
async function newPlace(tasks: Record<string, string>) {
  const project = new Project();
  const text = (tools: string) => agentTask('1. Go', '- Right', tools === '' ? '' : `- tools: ${tools}`);
  const todo = ',todo'.repeat(Object.keys(tasks).length);
  project.shift('site', {
    settings: { parallel: true },
    table: `name,${Object.keys(tasks).join()}\na${todo}\nb${todo}\n`,
    tasks: Object.fromEntries(Object.entries(tasks).map(([name, tools]) => [name, text(tools)])),
  });
  const fixture = resolve('test/fixtures/mcp-server.mjs');
  const command = (name: string) => ['node', fixture, name, project.path('marks'), 'resources'];
  const mcp = Object.fromEntries(SERVERS.map((name) => [name, { type: 'local', command: command(name) }]));
  // A server may be off for everybody: who needs it says so. A part of the shell that is denied stays denied.
  const permission = { bash: { 'touch secret*': 'deny' }, 'alpha*': 'deny' };
  project.write('opencode.json', JSON.stringify({ mcp, permission }));
  await project.run(['init']);
  /** The prompts of the devs of the next batch, which is of another task if all of the one before is done. */
  const openBatch = async (): Promise<string[]> => {
    const { stdout } = await project.run(['batch', 'open', 'site', '--take-over', '--json']);
    return JSON.parse(stdout).items.map(({ prompt }: { prompt: string }) => prompt);
  };
  const made = () => ({
    files: WHO.flatMap((who) => [`made-${who}`, `secret-${who}`]).filter((file) => project.exists(file)),
    marks: project.exists('marks') ? [...new Set(project.read('marks').trim().split('\n'))].sort() : [],
  });
  return { project, folder: server.in(project.root), openBatch, made };
}

const TASKS = { first: 'bash', second: 'alpha', third: '' };
const WHO = ['manager', ...Object.keys(TASKS).flatMap((task) => [`dev-${task}`, `qa-${task}`])];

/** The shell and all servers, each with a trace. */
function tries(who: string): Call[] {
  const commands = [`echo x | tee made-${who} > /dev/null && ls`, `touch secret-${who}`];
  const ofServers = SERVERS.flatMap((name) => [
    { tool: `${name}_mark`, input: { text: who } },
    { tool: 'read_mcp_resource', input: { server: name, uri: `note://${who}` } },
  ]);
  return [...commands.map(bash), ...ofServers];
}

/** Everybody tries all of it, the agents of an item when they have read their prompt, and then does what the kit's texts say. */
function playGreedy(talk: Talk): Move {
  const { player, answers } = talk;
  if (player === 'person') return playStart(talk);
  if (player === 'manager' && answers.length === 0) return { calls: tries('manager') };
  if (player === 'manager') return playManager({ ...talk, answers: answers.slice(1) });
  if (answers.length === 1) return { calls: tries(`${player}-${taskIn(talk)}`) };
  return playItem({ ...talk, answers: answers.filter((_, i) => i !== 1) }, {});
}

function taskIn({ answers }: Talk): string {
  return /nightshift table site edit (\w+)/.exec(answers[0]?.join('') ?? '')?.[1] ?? '';
}

test('D2 O2 a dev has what the tools of its task name, its qa the servers of that, and nobody else has any of it', async () => {
  const { folder, made } = await newPlace(TASKS);
  model.play = playGreedy;
  const { text } = await folder.command('nightshift-start', 'site');
  expect(text).toMatch(/^site: 2 items, 2 completed/);
  const ofAlpha = ['dev-second', 'note://dev-second', 'note://qa-second', 'qa-second'].map((what) => `alpha: ${what}`);
  expect(made()).toEqual({ files: ['made-dev-first'], marks: ofAlpha });
  const offered = model.talks
    .filter(({ player, answers }) => player !== 'person' && answers.length > 0)
    .map((talk) => [`${talk.player} ${taskIn(talk)}`, talk.tools.filter((tool) => tool.includes('_mark')).join()]);
  expect(Object.fromEntries(offered)).toEqual({
    'manager ': '',
    'dev first': '',
    'qa first': '',
    'dev second': 'alpha_mark',
    'qa second': 'alpha_mark',
    'dev third': '',
    'qa third': '',
  });
});

test('D2 O4 tools are for one task: an agent is not given another, nor started without its servers; a shell shows no tokens', async () => {
  const { project, folder, openBatch } = await newPlace({ first: 'bash', second: 'nowhere', third: '' });
  const tell = (prompt: string, calls: readonly Call[]) => `${scripted([{ calls }])} Read ${prompt}`;
  const start = async (prompt: string, more = {}) => {
    const { tool, input } = taskCall('nightshift-dev', `${scripted([])} Read ${prompt}`);
    return await folder.ask('nightshift-manager', scripted([{ calls: [{ tool, input: { ...input, ...more } }] }]));
  };
  const isDone = (...tasks: string[]) => {
    const table = project.read('.nightshift/site/table.csv').split('\n');
    const cells = ['first', 'second', 'third'].map((task) => (tasks.includes(task) ? 'done' : 'todo'));
    project.write('.nightshift/site/table.csv', `${table[0]}\na,${cells}\nb,${cells}\n`);
  };

  const [own, other] = (await openBatch()) as [string, string];
  const session = await folder.session();
  const shell = ['touch made', `cat ${other}`, 'cat .nightshift/site/.engine/*/row-2*'].map(bash);
  const same = [bash('date'), bash('date'), bash('date')];
  const calls = await folder.askIn(session, 'nightshift-dev', tell(own, [...shell, ...same]));
  expect(calls.map(({ status }) => status)).toEqual(['completed', 'error', ...Array(4).fill('completed')]);
  expect(project.exists('made')).toBe(true);
  expect(calls[2]!.output).toContain('--token (of somebody else)');
  // Told of a prompt that is not for it, of two, or of one that is in no batch.
  for (const prompt of [own.replace('dev', 'qa'), `${own} and ${other}`, own.replace('row-1', 'row-3')]) {
    expect(await folder.ask('nightshift-dev', tell(prompt, [bash('touch more')]))).toMatchObject([{ status: 'error' }]);
  }

  isDone('first');
  const [second] = (await openBatch()) as [string];
  expect(await start(second)).toMatchObject([
    { status: 'error', output: expect.stringContaining('needs the MCP server nowhere') },
  ]);
  isDone('first', 'second');
  const [third] = (await openBatch()) as [string];
  expect(await start(third, { task_id: session })).toMatchObject([
    { status: 'error', output: expect.stringContaining('Start a fresh one') },
  ]);
  expect(await start(third)).toMatchObject([{ status: 'completed' }]);
});

test('D2 O2 without the plugins, the rules give the tools of a task to nobody', async () => {
  const { project, folder, openBatch, made } = await newPlace({ first: 'bash, alpha' });
  rmSync(project.path('.opencode/plugin'), { recursive: true });
  const [prompt] = await openBatch();
  const calls = [bash('touch made-dev-first'), ...tries('dev-first').slice(1)];
  await folder.ask('nightshift-dev', `${scripted([{ calls }])} Read ${prompt}`);
  expect(made()).toEqual({ files: [], marks: [] });
});
