import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Action } from '../../src/kit/nightshift-guard/rules.ts';
import {
  ALLOWED_IN_SHELL,
  DEV_WRITES,
  FORBIDDEN_FILES,
  FORBIDDEN_IN_SHELL,
  FORBIDDEN_LINES,
  layTraps,
  MANAGER_LINES,
  READABLE,
} from '../guard-actions.ts';
import { agentTask, Project, type ShiftHandle } from '../harness.ts';
import { bash, type Call, scripted, taskCall } from './inside-model.ts';
import { type Folder, startInside } from './inside-server.ts';

const { server } = await startInside();

interface Place {
  readonly project: Project;
  readonly shift: ShiftHandle;
  readonly folder: Folder;
}

async function newPlace({ isGit = true, tools = '' } = {}): Promise<Place> {
  const project = new Project();
  const shift = project.shift('site', {
    settings: { parallel: true },
    table: 'name,draft\na,todo\nb,todo\n',
    tasks: { draft: agentTask(undefined, undefined, tools) },
  });
  project.write('keep.txt', 'kept\n');
  if (isGit) execFileSync('git', ['init', '-q'], { cwd: project.root });
  await project.run(['init']);
  return { project, shift, folder: server.in(project.root) };
}

const OPENCODES =
  /^\.opencode\/(node_modules|package|bun|\.gitignore)|^\.git\/(?!logs|hooks|config|info|HEAD)|^\.nightshift\/.*\.lock$/;

/** Every file that is not OpenCode's own, with its content. Links are not followed. */
function contentOf(project: Project, folder = ''): Record<string, string> {
  const entries = readdirSync(project.path(folder), { withFileTypes: true })
    .map((entry) => ({ entry, file: join(folder, entry.name) }))
    .filter(({ file }) => !OPENCODES.test(file));
  const hash = (file: string) =>
    createHash('sha256')
      .update(readFileSync(project.path(file)))
      .digest('hex');
  return Object.assign(
    {},
    ...entries.map(({ entry, file }) => {
      if (entry.isDirectory()) return contentOf(project, file);
      return entry.isFile() ? { [file]: hash(file) } : { [file]: 'a link' };
    }),
  );
}

const shell = (commands: readonly string[]) => scripted(commands.map((command) => ({ calls: [bash(command)] })));

test.each(['nightshift-manager', 'nightshift-dev', 'nightshift-qa'])(
  'O2 the shell of %s is denied but for its own commands, and what is denied leaves no trace',
  async (agent) => {
    const { project, shift, folder } = await newPlace();
    const opened = JSON.parse((await project.run(['batch', 'open', 'site', '--json'])).stdout);
    const before = contentOf(project);
    const { prompt, qaPrompt } = opened.items[0];
    const told = agent === 'nightshift-qa' ? qaPrompt : prompt;
    const denied = await folder.ask(agent, `${scripted([{ calls: FORBIDDEN_LINES.map(bash) }])} Read ${told}`);
    expect(denied.map(({ input }) => input.command)).toEqual(FORBIDDEN_LINES);
    expect(denied.filter(({ status }) => status !== 'error').map(({ input }) => input.command)).toEqual([]);
    expect(contentOf(project)).toEqual(before);

    const commandOf = (file: string, status: string) =>
      new RegExp(`nightshift table .* ${status} --token \\w+`).exec(project.read(file))![0];
    const runs = async (...commands: string[]) => {
      const calls = await folder.ask(agent, shell(commands));
      expect(calls.map(({ status, output }) => [status, output])).toEqual(
        commands.map(() => ['completed', expect.any(String)]),
      );
      return calls.map(({ output }) => output).join('\n');
    };
    const toQa = commandOf(prompt, 'qa');
    if (agent === 'nightshift-manager') {
      // Only a batch that it has opened itself is its own.
      await project.run(['batch', 'close', 'site', '--give-back']);
      const own = ['nightshift batch open site', 'nightshift batch close site --give-back'];
      const said = await runs(...MANAGER_LINES, ...own);
      expect(said).toContain('qsv slice -i 0');
      expect(said).toContain('2 given back');
    } else if (agent === 'nightshift-dev') {
      expect(await runs(`${toQa} --recommend 'Don'\\''t > hurry; $HOME'`)).toContain('index 0): qa');
      // Not even with the token of its own qa.
      const forged = await folder.ask(agent, shell([commandOf(qaPrompt, 'done')]));
      expect(forged).toMatchObject([{ status: 'error' }]);
      expect(shift.column('draft')).toEqual(['qa', 'in_progress']);
    } else {
      await project.run(toQa.split(' ').slice(1));
      expect(await folder.ask(agent, shell([toQa]))).toMatchObject([{ status: 'error' }]);
      expect(await runs(commandOf(qaPrompt, 'done'))).toContain('index 0): done');
      expect(shift.column('draft')).toEqual(['done', 'in_progress']);
    }
  },
);

test('O4 nobody sees the token of another: not in its prompt, and not by searching', async () => {
  const { project, folder } = await newPlace({ isGit: false });
  const { items } = JSON.parse((await project.run(['batch', 'open', 'site', '--json'])).stdout);
  const [own, other] = items.map(({ prompt }: { prompt: string }) => prompt);
  const reads = [own, other].map((filePath): Call => ({ tool: 'read', input: { filePath } }));
  const search = (path: string): Call => ({ tool: 'grep', input: { pattern: 'token|sk-secret', path } });
  const searches = ['.nightshift/site/.engine/prompts', '.nightshift/site/.env', '.nightshift/site', '.nightshift'].map(
    search,
  );
  project.write('.nightshift/site/.env', 'API_KEY=sk-secret\n');
  const calls = await folder.ask('nightshift-dev', `${scripted([{ calls: [...reads, ...searches] }])} Read ${own}`);
  const statuses = ['completed', 'error', 'error', 'error', 'completed', 'completed'];
  expect(calls.map(({ status }) => status)).toEqual(statuses);
  const tokenIn = (file: string) => /--token (\w+)/.exec(project.read(file))![1];
  expect(calls[0]!.output).toContain(tokenIn(own));
  for (const { output } of calls.slice(4)) {
    expect(output).toContain('.nightshift/site/.engine/prompts/');
    for (const hidden of [tokenIn(own), tokenIn(other), 'sk-secret']) expect(output).not.toContain(hidden);
  }
});

/** The call of OpenCode that an action is. */
function callsFor(action: Action): Call[] {
  switch (action.kind) {
    case 'write': {
      const { path: filePath } = action;
      const edit = { filePath, oldString: '', newString: 'made' };
      return [
        { tool: 'write', input: { filePath, content: 'made' } },
        { tool: 'edit', input: edit },
      ];
    }
    case 'read':
      return [{ tool: 'read', input: { filePath: action.path } }];
    case 'search':
      return [{ tool: 'grep', input: { pattern: '.', path: action.path, include: action.glob } }];
    default:
      return [];
  }
}

test.each(['nightshift-manager', 'nightshift-dev', 'nightshift-qa'])(
  'O2 %s reads no secret and disarms nothing with the tools for files, nor with a shell',
  async (agent) => {
    const { project, folder } = await newPlace({ isGit: agent !== 'nightshift-qa', tools: '- tools: bash' });
    layTraps(project.root);
    const { items } = JSON.parse((await project.run(['batch', 'open', 'site', '--json'])).stdout);
    const told = `Read ${agent === 'nightshift-qa' ? items[0].qaPrompt : items[0].prompt}`;
    const before = contentOf(project);
    const actions = FORBIDDEN_FILES.map((action) =>
      'path' in action && action.path ? { ...action, path: action.path.replace('ROOT', project.root) } : action,
    );
    const outside: Action = { kind: 'write', path: `../${basename(project.root)}-made` };
    const calls = [...actions, outside].flatMap(callsFor);
    const lines = agent === 'nightshift-dev' ? FORBIDDEN_IN_SHELL.map(bash) : [];
    // A turn without calls would be asked for again and again.
    const turns = [calls, lines].filter(({ length }) => length > 0);
    const tried = await folder.ask(agent, `${scripted(turns.map((calls) => ({ calls })))} ${told}`);
    expect(tried).toHaveLength(calls.length + lines.length);
    // What an agent has no tool for at all is answered by a tool that says so.
    const done = tried.filter(({ tool, status }) => status !== 'error' && tool !== 'invalid');
    expect(done.map(({ tool, input }) => [tool, input])).toEqual([]);
    expect(tried.map(({ output }) => output).join('\n')).not.toContain('sk-secret');
    expect(contentOf(project)).toEqual(before);
    expect(existsSync(`${project.root}-made`)).toBe(false);

    const writes = DEV_WRITES.flatMap((path) => callsFor({ kind: 'write', path }).slice(0, 1));
    const reads = READABLE.flatMap(callsFor);
    const shell = ALLOWED_IN_SHELL.map(bash);
    const moves = [{ calls: [...reads, ...writes] }, ...shell.map((call) => ({ calls: [call] }))];
    const ran = await folder.ask(agent, `${scripted(moves)} ${told}`);
    const isDev = agent === 'nightshift-dev';
    const good = ran.filter(({ tool, status }) => status === 'completed' && tool !== 'invalid');
    expect(good).toHaveLength(
      reads.length + (isDev ? writes.length + shell.length : agent === 'nightshift-manager' ? 1 : 0),
    );
    expect(DEV_WRITES.map((file) => project.exists(file))).toEqual(DEV_WRITES.map(() => isDev));
  },
);

test('O2 a manager that was started by Task starts dev and qa and nobody else; nothing is left to ask', async () => {
  const { folder } = await newPlace();
  const wanted = ['nightshift-dev', 'nightshift-qa', 'nightshift-manager', 'general', 'explore'];
  const nested = scripted([{ calls: wanted.map((agent) => taskCall(agent, scripted([]))) }]);
  const { sessionID } = await folder.command(
    'nightshift-create',
    scripted([{ calls: [taskCall('nightshift-manager', nested)] }]),
  );
  const [manager] = await folder.children(sessionID);
  const started = await folder.calls(manager!);
  expect(started.map(({ input, status }) => [input.subagent_type, status])).toEqual(
    wanted.map((agent, i) => [agent, i < 2 ? 'completed' : 'error']),
  );
  const { data: agents = [] } = await folder.client.app.agents();
  const ours = agents.filter(({ name }) => name.startsWith('nightshift-'));
  expect(ours).toHaveLength(3);
  // The last rule that matches decides; ours come after those of OpenCode itself.
  for (const { permission } of ours) {
    const all = permission.findLastIndex((rule) => rule.permission === '*' && rule.pattern === '*');
    expect(permission[all]).toMatchObject({ action: 'deny' });
    expect(permission.slice(all).filter(({ action }) => action === 'ask')).toEqual([]);
  }
});
