import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { agentTask, Project } from '../harness.ts';
import { type Called, claudeCall, contentOf, converse, inClaude, playStartInClaude } from './inside-claude.ts';
import { bash, type Call, InsideModel, type Move, scripted, type Talk, taskCall } from './inside-model.ts';
import { playItem, playManager } from './inside-play.ts';

const model = await InsideModel.start();
afterAll(() => model.stop());

/** Each would leave a trace in the project, or print what is not for its agent. */
const SHELL = [
  'rm -f keep.txt',
  'touch made',
  'cat keep.txt > made',
  'echo hi > made',
  '> keep.txt',
  'export X=1 > made',
  'tee made',
  'cp keep.txt made',
  'mv keep.txt made',
  'env touch made',
  'sh -c "touch made"',
  "node -e \"require('fs').writeFileSync('made', '')\"",
  'git commit --allow-empty -m made',
  'git config core.hooksPath made',
  'nightshift status site > made',
  'nightshift status site | tee made',
  'nightshift status site && touch made',
  'nightshift status site\ntouch made',
  'nightshift status "$(touch made)"',
  'flock -x .nightshift/site/table.csv.lock touch made',
  'qsv select -o made name .nightshift/site/table.csv',
  'nightshift table site edit name 0 made',
  'nightshift table site edit draft 1 failed',
  'nightshift table site add name=made',
  'nightshift start site',
  'nightshift init --force',
  'nightshift archive site',
  'nightshift hook claude',
  'find . -name keep.txt -delete',
  "find . -name keep.txt -exec touch made ';'",
  'find . -fprint made',
  "grep -r --filter='*:touch made' kept .",
  'grep --save-config=made kept keep.txt',
  'grep -rn token .nightshift',
  'cat .nightshift/site/.env',
  'ls / > made',
];

function fileCalls(project: Project, other: string): Call[] {
  const write = (path: string) => ({ tool: 'Write', input: { file_path: path, content: 'made' } });
  const edit = { file_path: project.path('.claude/settings.json'), old_string: 'hooks', new_string: 'made' };
  return [
    write(project.path('.nightshift/site/table.csv')),
    write(project.path('.nightshift/made')),
    write(project.path('.claude/settings.local.json')),
    write(project.path('.claude/agents/nightshift-dev.md')),
    write(project.path('.git/hooks/pre-commit')),
    write(project.path('.mcp.json')),
    write(`${project.root}-made`),
    { tool: 'Read', input: { file_path: project.path('.nightshift/site/.env') } },
    { tool: 'Read', input: { file_path: project.path(other) } },
    { tool: 'Read', input: { file_path: '/etc/passwd' } },
    { tool: 'Edit', input: edit },
  ];
}

const AGENTS = ['dev', 'qa', 'manager'];

interface Started {
  readonly role: string;
  readonly prompt: string;
  readonly moves: readonly Move[];
}

/** The calls of agents that a person's conversation starts, all in one message. */
async function callsOf(project: Project, agents: readonly Started[], options = {}): Promise<Map<string, Called[]>> {
  const calls = agents.map(({ role, prompt, moves }) =>
    claudeCall(taskCall(`nightshift-${role}`, `${scripted(moves)} Read ${prompt}`)),
  );
  const { calls: all } = await converse(project, model, scripted([{ calls }]), options);
  const started = all.filter(({ parent }) => parent === null);
  return new Map(
    agents.map(({ role, prompt }) => {
      const own = started.find(({ input }) => input.prompt!.endsWith(`Read ${prompt}`));
      return [role, all.filter(({ parent }) => parent === own?.id)];
    }),
  );
}

async function newPlace() {
  const project = new Project();
  const shift = project.shift('site', {
    settings: { parallel: true },
    table: 'name,draft\na,todo\nb,todo\n',
    tasks: { draft: agentTask() },
  });
  project.write('keep.txt', 'kept\n');
  project.write('.nightshift/site/.env', 'SECRET=kept-secret\n');
  execFileSync('git', ['init', '-q'], { cwd: project.root });
  await project.run(['init', '--agent', 'claude']);
  const { items } = JSON.parse((await project.run(['batch', 'open', 'site', '--json'])).stdout);
  const [own, other] = items as { prompt: string; qaPrompt: string }[];
  return { project, shift, own: own!, other: other! };
}

test('O2 O4 in Claude Code what is not for an agent is refused, by shell and by file tools, and leaves no trace', async () => {
  const { project, shift, own, other } = await newPlace();
  const before = contentOf(project);
  const forbidden = [...SHELL.map(bash).map((call) => claudeCall(call)), ...fileCalls(project, other.prompt)];
  const tries = (prompt: string) => ({ prompt, moves: [{ calls: forbidden }] });
  const refused = await callsOf(project, [
    { role: 'dev', ...tries(own.prompt) },
    { role: 'qa', ...tries(own.qaPrompt) },
    { role: 'manager', ...tries('nothing') },
  ]);
  for (const role of AGENTS) {
    const calls = refused.get(role)!;
    expect([role, calls.length]).toEqual([role, forbidden.length]);
    expect(calls.filter(({ isError }) => !isError).map(({ tool, input }) => [role, tool, input])).toEqual([]);
  }
  expect(contentOf(project)).toEqual(before);

  // What is theirs runs, and nobody is asked.
  const file = project.path('made.txt');
  const commandOf = (prompt: string, status: string) =>
    new RegExp(`nightshift table .* ${status} --token \\w+`).exec(project.read(prompt))![0];
  const look = ['ls -a', "find . -name '*.txt'", 'grep -rn kept .', 'grep -rn token .'];
  const runs = (...commands: string[]) => [...look, ...commands].map((each) => ({ calls: [claudeCall(bash(each))] }));
  const allowed = await callsOf(project, [
    {
      role: 'dev',
      prompt: own.prompt,
      moves: [
        { calls: [{ tool: 'Write', input: { file_path: file, content: 'made' } }] },
        ...runs(`${commandOf(own.prompt, 'qa')} --recommend 'Don'\\''t > hurry; $HOME'`),
      ],
    },
    {
      role: 'manager',
      prompt: 'nothing',
      moves: runs('nightshift status site', "nightshift table site search --exact 'a' --select name"),
    },
  ]);
  const judged = await callsOf(project, [
    { role: 'qa', prompt: own.qaPrompt, moves: runs(commandOf(own.qaPrompt, 'done')) },
  ]);
  for (const calls of [...allowed.values(), ...judged.values()]) {
    expect(calls.length).toBeGreaterThan(look.length);
    expect(calls.filter(({ isError }) => isError)).toEqual([]);
    expect(calls.find(({ input }) => input.command === 'grep -rn kept .')!.output).toContain('keep.txt');
    expect(calls.map(({ output }) => output).join('')).not.toMatch(/kept-secret|--token \w/);
  }
  expect(project.read('made.txt')).toBe('made');
  expect(shift.column('draft')).toEqual(['done', 'in_progress']);
});

test("O2 in Claude Code without `nightshift` the three agents do nothing; a person's conversation goes on", async () => {
  const { project, own } = await newPlace();
  const calls = [bash('touch made'), { tool: 'read', input: { filePath: project.path('keep.txt') } }];
  const moves = [{ calls: calls.map((call) => claudeCall(call)) }];
  const options = { isAlone: true, flags: ['--permission-mode', 'acceptEdits'] };
  const refused = await callsOf(project, [{ role: 'dev', prompt: own.prompt, moves }], options);
  const NOT_CHECKED = expect.stringContaining('Nightshift could not check this');
  expect(refused.get('dev')).toMatchObject(calls.map(() => ({ isError: true, output: NOT_CHECKED })));
  expect(project.exists('made')).toBe(false);
  await converse(project, model, scripted(moves), options);
  expect(project.exists('made')).toBe(true);
});

const SERVERS = ['alpha', 'beta'];
const TASKS = { first: 'alpha', second: 'beta, bash' };

/** The shell and all servers, each with a trace. */
function tries(who: string): Call[] {
  const marks = SERVERS.map((name) => ({ tool: `mcp__${name}__mark`, input: { text: who } }));
  return [bash(`echo x | tee made-${who}`), ...marks];
}

function playGreedy(talk: Talk): Move {
  const { player, answers } = talk;
  if (player === 'person') return playStartInClaude(talk);
  if (player === 'manager' && answers.length === 0) return { calls: tries('manager') };
  if (player === 'manager') return playManager({ ...talk, answers: answers.slice(1) });
  const task = /nightshift table site edit (\w+)/.exec(answers[0]?.join('') ?? '')?.[1];
  if (answers.length === 1) return { calls: tries(`${player}-${task}`) };
  return playItem({ ...talk, answers: answers.filter((_, i) => i !== 1) }, {});
}

test('D2 O2 in Claude Code two tasks with different MCP servers have only their own', async () => {
  const project = new Project();
  const text = (tools: string) => agentTask('1. Go', '- Right', `- tools: ${tools}`);
  const shift = project.shift('site', {
    settings: { parallel: true },
    table: 'name,first,second\na,todo,todo\nb,todo,todo\n',
    tasks: { first: text(TASKS.first), second: text(TASKS.second) },
  });
  const args = (name: string) => [resolve('test/fixtures/mcp-server.mjs'), name, project.path('marks')];
  const mcpServers = Object.fromEntries(SERVERS.map((name) => [name, { command: 'node', args: args(name) }]));
  project.write('.mcp.json', JSON.stringify({ mcpServers }));
  await project.run(['init', '--agent', 'claude']);
  model.play = inClaude(playGreedy);
  const { said } = await converse(project, model, '/nightshift-start site');
  expect(said.at(-1)).toMatch(/^site: 2 items, 2 completed/);
  expect(shift.column('second')).toEqual(['done', 'done']);
  const marks = [...new Set(project.read('marks').trim().split('\n'))].sort();
  expect(marks).toEqual(['alpha: dev-first', 'alpha: qa-first', 'beta: dev-second', 'beta: qa-second']);
  const made = ['manager', 'dev-first', 'qa-first', 'dev-second', 'qa-second'];
  expect(made.filter((who) => project.exists(`made-${who}`))).toEqual(['dev-second']);
});
