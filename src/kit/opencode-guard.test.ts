import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Nightshift } from './opencode-guard.ts';

/** What is said to a call of a tool by an agent; nothing: the guard lets it through. */
async function guard(agent: string, config = {}, directory = '/project', told = '', permission: Rule[] = []) {
  const user = { info: { role: 'user', agent }, parts: [{ text: told }] };
  const messages = async () => ({ data: [user, { info: { role: 'assistant' }, parts: [] }] });
  const hooks = await Nightshift({
    directory,
    client: { session: { messages, get: async () => ({ data: { permission } }) } },
  });
  await hooks.config(config);
  const ask = (tool: string, args: object) =>
    hooks['tool.execute.before']({ tool, sessionID: 's' }, { args }).then(
      () => undefined,
      (error: Error) => error.message,
    );
  return { ask, runs: async (command: string) => (await ask('bash', { command })) === undefined, hooks };
}

interface Rule {
  readonly permission: string;
  readonly pattern: string;
  readonly action: string;
}

const STATUS = 'nightshift table site edit draft 0';

test.each([
  ['nightshift status site', true],
  ['nightshift lesson site draft \'{"a": "$x > `y` ; z"}\'', true],
  ['nightshift table site search --exact "two words" --select name', true],
  ['  qsv count .nightshift/site/table.csv\n', true],
  ['flock -x /project/.nightshift/site/table.csv.lock qsv slice -i 0 .nightshift/site/table.csv', true],
  ['flock -x .nightshift/other/table.csv.lock qsv slice -i 0 .nightshift/site/table.csv', false],
  ['qsv count keep.csv', false],
  ["nightshift 'status' site", true],
  ['nightshift status site > f', false],
  ['nightshift status "$(x)"', false],
  ['nightshift status "`x`"', false],
  ['nightshift status $x', false],
  ['nightshift status site\nnightshift status site', false],
  ["nightshift status 'site", false],
  ['nightshift status site # x', false],
  ['nightshift status *', false],
  ['nightshift status {a,b}', false],
  ['nightshift status \\; touch x', false],
  ["nightshift status ''\\''; touch x'", true],
  ["nightshift status ''\\'; touch x", false],
  ['', false],
  ['> f', false],
  ['X=1 nightshift status', false],
  ['/bin/nightshift status', false],
  ['nightshift --help table site show', false],
  ['nightshift table site edit name 0 show', false],
  [`${STATUS} failed --token t`, false],
  ['qsv select a t -no f', false],
  ['qsv select a t --output=f', false],
  ['qsv foreach a t', false],
  ['flock -x f qsv count t', false],
  ['flock -x .nightshift/site/table.csv.lock sh', false],
  ['flock -x -c/.nightshift/site/table.csv.lock qsv count t', false],
])('O2 the guard lets a manager run %j: %s', async (line, isAllowed) => {
  expect(await (await guard('nightshift-manager')).runs(line)).toBe(isAllowed);
});

test('O2 the guard holds dev and qa to their own statuses, leaves more of a dev to the rules, and other agents alone', async () => {
  const dev = await guard('nightshift-dev', { agent: { 'nightshift-dev': { permission: { bash: { '*': 'deny' } } } } });
  const qa = await guard('nightshift-qa');
  const lines = ['qa', 'done', 'failed'].map((status) => `${STATUS} ${status} --token t --reason 'x qa --token done'`);
  expect(await Promise.all(lines.map(dev.runs))).toEqual([true, false, true]);
  expect(await Promise.all(lines.map(qa.runs))).toEqual([false, true, true]);
  expect([await dev.runs('npm test'), await dev.runs('npm test > f'), await qa.runs('npm test')]).toEqual([
    true,
    false,
    false,
  ]);
  for (const bash of ['allow', { '*': 'allow' }]) {
    const open = await guard('nightshift-dev', { agent: { 'nightshift-dev': { permission: { bash } } } });
    expect(await open.runs('npm test > f')).toBe(true);
  }
  expect(await (await guard('build')).runs('touch x; touch y')).toBe(true);
  // What the session of a dev was given counts, and of that what came last.
  const ofSession = (...actions: string[]) => actions.map((action) => ({ permission: 'bash', pattern: '*', action }));
  const given = async (agent: string, rules: Rule[]) =>
    (await guard(agent, {}, '/project', '', rules)).runs('npm test > f');
  expect([
    await given('nightshift-dev', ofSession('allow')),
    await given('nightshift-dev', ofSession('allow', 'deny')),
    await given('nightshift-dev', [{ permission: 'bash', pattern: 'npm *', action: 'allow' }]),
    await given('nightshift-qa', ofSession('allow')),
    await given('nightshift-manager', ofSession('allow')),
  ]).toEqual([true, false, false, false, false]);
  // The agent of a conversation may change.
  await dev.hooks['chat.message']({ sessionID: 's' }, { message: { agent: 'build' }, parts: [] });
  expect(await dev.runs('npm test > f')).toBe(true);
});

test('O2 the guard lets a dev write nothing inside .nightshift, by whatever path', async () => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-guard-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, '.nightshift/site'), { recursive: true });
  writeFileSync(join(root, '.nightshift/site/table.csv'), '');
  symlinkSync('.nightshift', join(root, 'folder'));
  symlinkSync('folder/site/table.csv', join(root, 'file'));
  symlinkSync('folder/new', join(root, 'dangling'));
  symlinkSync('round', join(root, 'round'));
  const { ask } = await guard('nightshift-dev', {}, root);
  const isInside = (tool: string, args: object) => ask(tool, args).then((said) => said !== undefined);
  const inside = ['.nightshift/x', `${root}/.nightshift`, 'a/../.Nightshift/x', 'folder/new/x', 'file', 'dangling'];
  for (const filePath of inside) {
    expect([filePath, await isInside('write', { filePath })]).toEqual([filePath, true]);
    const patchText = `*** Begin Patch\n*** Add File: ok\n+x\n*** Add File: ${filePath}\n+x\n*** End Patch`;
    expect(await isInside('apply_patch', { patchText })).toBe(true);
    expect(await isInside('read', { filePath })).toBe(false);
  }
  for (const filePath of ['x', 'a/b/c', 'nightshift/x', 'a.nightshift/x', `${root}/x`, 'round', 'round/x']) {
    expect([filePath, await isInside('edit', { filePath })]).toEqual([filePath, false]);
  }
});

test('O4 the guard lets an agent read its own prompt and no other, and takes tokens out of what it finds', async () => {
  const file = (name: string, shift = 'site') => ({ filePath: `.nightshift/${shift}/.engine/prompts/${name}` });
  for (const role of ['manager', 'dev', 'qa']) {
    const { ask, hooks } = await guard(
      `nightshift-${role}`,
      {},
      '/project',
      `Read ${file('row-1-dev.md').filePath} and`,
    );
    const reads = [file('row-1-dev.md'), file('row-11-dev.md'), file('row-1-qa.md'), file('row-1-dev.md', 'other')];
    const said = await Promise.all(reads.map((args) => ask('read', args)));
    expect(said.map((each) => each === undefined)).toEqual([true, false, false, false]);
    expect(await ask('read', { filePath: '.nightshift/site/table.csv' })).toBeUndefined();
    const result = { output: 'x --token 0af edit\ny --token 1bf' };
    await hooks['tool.execute.after']({ tool: 'read', sessionID: 's' }, result);
    expect(result.output).toContain('0af');
    for (const tool of ['grep', 'bash']) {
      const found = { ...result };
      await hooks['tool.execute.after']({ tool, sessionID: 's' }, found);
      expect(found.output).not.toMatch(/0af|1bf/);
    }
  }
  // A shell that is open is looked at only for its words.
  const shell = await guard('nightshift-dev', {}, '/project', `Read ${file('row-1-dev.md').filePath} and`, [
    { permission: 'bash', pattern: '*', action: 'allow' },
  ]);
  expect(await shell.runs(`cat "${file('row-1-dev.md').filePath}"; cat x`)).toBe(true);
  expect(await shell.runs(`cat x|cat - ${file('row-1-dev.md').filePath} ${file('row-2-dev.md').filePath}`)).toBe(false);
});

test('O3 the guard lets a manager that was started start others, and lowers no limit of a person', async () => {
  const { hooks } = await guard('build');
  const depthOf = async (config: { subagent_depth?: number }) => {
    await hooks.config(config);
    return config.subagent_depth;
  };
  expect([await depthOf({}), await depthOf({ subagent_depth: 1 }), await depthOf({ subagent_depth: 5 })]).toEqual([
    2, 2, 5,
  ]);
});
