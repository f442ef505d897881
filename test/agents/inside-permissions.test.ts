import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename } from 'node:path';
import { expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle } from '../harness.ts';
import { bash, type Call, scripted, taskCall } from './inside-model.ts';
import { type Folder, startInside } from './inside-server.ts';

const { model, server } = await startInside();

/** Each would leave a trace in the project, if it ran. */
const FORBIDDEN = [
  'rm -f keep.txt',
  'touch made',
  'cat > made',
  'cat keep.txt > made',
  'echo hi > made',
  '> keep.txt',
  'export X=1 > made',
  '[[ a ]] > made',
  'cd . > made',
  'tee made',
  'cp keep.txt made',
  'mv keep.txt made',
  'mkdir made',
  'env touch made',
  'command touch made',
  'sh -c "touch made"',
  'bash -c "nightshift status site; touch made"',
  "node -e \"require('fs').writeFileSync('made', '')\"",
  'git commit --allow-empty -m made',
  'eval "touch made"',
  'nightshift status site > made',
  'nightshift status site 2> made',
  'nightshift status site >| made',
  'nightshift status site &> made',
  'nightshift status site | tee made',
  'nightshift status site | nightshift status site > made',
  'nightshift status site && touch made',
  'nightshift status site || touch made',
  'nightshift batch open site; touch made',
  'nightshift status site & touch made',
  'nightshift status site\ntouch made',
  'nightshift status "$(touch made)"',
  'nightshift status `touch made`',
  'nightshift status <(touch made)',
  'nightshift status site << END > made\nx\nEND',
  "nightshift lesson site draft '{}' > made",
  'X=1 nightshift status site > made',
  'flock -x f -c "touch made"',
  'flock -x .nightshift/site/table.csv.lock touch made',
  'flock -x .nightshift/site/table.csv.lock -c "touch made"',
  'flock -x made.table.csv.lock qsv count table.csv',
  'flock -x .nightshift/site/table.csv.lock qsv slice -i 0 .nightshift/site/table.csv --output made',
  'qsv foreach name "touch made" .nightshift/site/table.csv',
  'qsv select -o made name .nightshift/site/table.csv',
  'qsv select name -no made .nightshift/site/table.csv',
  'qsv slice --output made .nightshift/site/table.csv',
  'qsv count .nightshift/site/table.csv > made',
  'nightshift table site edit name 0 made',
  'nightshift table site edit name 0 show',
  'nightshift table site edit draft 0 failed',
  'nightshift table site reset --index 0',
  'nightshift table site add name=made',
  'nightshift create made',
  'nightshift start site',
  'nightshift start site --detach',
  'nightshift init --force --agent claude',
  'nightshift archive site',
] as const;

const MANAGERS = [
  'nightshift status site',
  'nightshift table site count',
  'nightshift table site headers',
  'nightshift table site show --status todo',
  "nightshift table site search --exact 'a' --select name",
  'nightshift table site slice --index 0',
  'nightshift lesson site draft',
  'qsv count .nightshift/site/table.csv',
  'qsv select name .nightshift/site/table.csv --no-headers',
  'flock -x .nightshift/site/table.csv.lock qsv slice -i 0 .nightshift/site/table.csv',
];

interface Place {
  readonly project: Project;
  readonly shift: ShiftHandle;
  readonly folder: Folder;
}

async function newPlace(isGit = true): Promise<Place> {
  const project = new Project();
  const shift = project.shift('site', {
    settings: { parallel: true },
    table: 'name,draft\na,todo\nb,todo\n',
    tasks: { draft: agentTask() },
  });
  project.write('keep.txt', 'kept\n');
  if (isGit) execFileSync('git', ['init', '-q'], { cwd: project.root });
  await project.run(['init']);
  return { project, shift, folder: server.in(project.root) };
}

/** Every file that is not OpenCode's own, with its content. */
function contentOf(project: Project): Record<string, string> {
  const files = readdirSync(project.root, { recursive: true, encoding: 'utf8' }).sort();
  return Object.fromEntries(
    files
      .filter((file) => !/^\.opencode\/|^\.git\/(?!logs)|^\.nightshift\/.*\.lock$/.test(file))
      .filter((file) => existsSync(project.path(file)) && statSync(project.path(file)).isFile())
      .map((file) => [
        file,
        createHash('sha256')
          .update(readFileSync(project.path(file)))
          .digest('hex'),
      ]),
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
    const denied = await folder.ask(agent, `${scripted([{ calls: FORBIDDEN.map(bash) }])} Read ${told}`);
    expect(denied.map(({ input }) => input.command)).toEqual(FORBIDDEN);
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
      const said = await runs(...MANAGERS, 'nightshift batch close site --give-back');
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
  const { project, folder } = await newPlace(false);
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

test.each([
  ['with', true],
  ['without', false],
])('O2 a dev writes everywhere but inside .nightshift, a qa and a manager nowhere, %s git', async (_, isGit) => {
  const { project, folder } = await newPlace(isGit);
  symlinkSync('.nightshift/site', project.path('by-folder'));
  symlinkSync('.nightshift/site/table.csv', project.path('by-file'));
  symlinkSync('.nightshift/site/made', project.path('by-nothing'));
  const write = (filePath: string): Call => ({ tool: 'write', input: { filePath, content: 'made' } });
  const forbidden = [
    '.nightshift/site/table.csv',
    '.nightshift/made',
    project.path('.nightshift/site/manager.md'),
    'src/../.nightshift/site/table.csv',
    'by-folder/table.csv',
    'by-file',
    'by-nothing',
    `../${basename(project.root)}-made`,
  ];
  const before = contentOf(project);
  // A write needs the file to have been read.
  const reads = forbidden.map((filePath): Call => ({ tool: 'read', input: { filePath } }));
  const edit = { filePath: '.nightshift/site/table.csv', oldString: 'a,todo', newString: 'a,done' };
  const calls = [...forbidden.map(write), { tool: 'edit', input: edit }];
  const denied = (await folder.ask('nightshift-dev', scripted([{ calls: reads }, { calls }]))).slice(reads.length);
  expect(denied.map(({ status }) => status)).toEqual(calls.map(() => 'error'));
  for (const agent of ['nightshift-qa', 'nightshift-manager']) {
    await folder.ask(agent, scripted([{ calls: [write('made'), ...calls] }]));
    expect(model.talks.at(-1)!.tools).not.toContain('write');
  }
  expect(contentOf(project)).toEqual(before);
  expect(existsSync(`${project.root}-made`)).toBe(false);
  await folder.ask('nightshift-dev', scripted([{ calls: [write('made.txt'), write('src/made.txt')] }]));
  expect([project.read('made.txt'), project.read('src/made.txt')]).toEqual(['made', 'made']);
});

test('O2 a manager that was started by Task starts dev and qa and nobody else; nothing is left to ask', async () => {
  const { folder } = await newPlace();
  const wanted = ['nightshift-dev', 'nightshift-qa', 'nightshift-manager', 'general', 'explore'];
  const nested = scripted([{ calls: wanted.map((agent) => taskCall(agent, scripted([]))) }]);
  const { sessionID } = await folder.command(
    'nightshift-archive',
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
