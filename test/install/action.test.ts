import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { shellTask } from '../harness.ts';
import { copyRepository, FROM_CACHE, temporaryFolder } from './repository-copy.ts';

interface Step {
  readonly run?: string;
  readonly if?: string;
  readonly with?: Record<string, string>;
  readonly env?: Record<string, string>;
  readonly 'working-directory'?: string;
}

const action = parse(readFileSync('action.yml', 'utf8')) as {
  readonly inputs: Record<string, { readonly default: string }>;
  readonly runs: { readonly steps: readonly Step[] };
};

async function ended(program: string, args: readonly string[], options: { cwd: string; env: NodeJS.ProcessEnv }) {
  try {
    return { status: 0, ...(await promisify(execFile)(program, args, options)) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { status: code, stdout, stderr };
  }
}

/** A runner of GitHub as far as the shell steps of the action see it. */
function runner() {
  const root = temporaryFolder();
  const actionPath = join(root, 'action');
  copyRepository(actionPath, (file) => !file.startsWith('test/'));
  const workspace = join(root, 'workspace');
  for (const folder of [workspace, join(root, 'temp')]) mkdirSync(folder);
  const file = (name: string) => join(root, name);
  const read = (name: string) => readFileSync(file(name), 'utf8');
  for (const name of ['path', 'output', 'summary']) writeFileSync(file(name), '');
  const play = async (step: Step, given: Record<string, string> = {}) => {
    const inputs = { ...Object.fromEntries(Object.entries(action.inputs).map(([k, v]) => [k, v.default])), ...given };
    const fill = (text: string) => text.replace(/\$\{\{ inputs\.([\w-]+) \}\}/g, (_, name) => inputs[name] ?? '');
    const env = Object.entries(step.env ?? {}).map(([name, value]) => [name, fill(value)]);
    // As GitHub does for `shell: bash`. The home is this user's, because npm's cache is there.
    return ended('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run!], {
      cwd: join(workspace, fill(step['working-directory'] ?? '.')),
      env: {
        ...{ PATH: `${read('path').trim()}:${dirname(process.execPath)}:/usr/bin:/bin`, HOME: process.env.HOME },
        ...{ NODE_EXTRA_CA_CERTS: process.env.NODE_EXTRA_CA_CERTS, CI: 'true', GITHUB_ACTION_PATH: actionPath },
        ...{ RUNNER_TEMP: file('temp'), GITHUB_PATH: file('path'), GITHUB_OUTPUT: file('output') },
        ...{ GITHUB_STEP_SUMMARY: file('summary'), XDG_STATE_HOME: file('state'), ...FROM_CACHE },
        ...Object.fromEntries(env),
      },
    });
  };
  return { workspace, read, play };
}

test('the action installs Nightshift, runs a shift, and keeps summary and folder also if items fail', {
  timeout: 300_000,
}, async () => {
  const [install, start, summary] = action.runs.steps.filter(({ run }) => run !== undefined);
  const { workspace, read, play } = runner();
  expect(await play(install!)).toMatchObject({ status: 0 });

  writeFileSync(join(workspace, 'items.csv'), 'name\nowl\ntoad\n');
  writeFileSync(join(workspace, 'greet.md'), shellTask('echo hello > {name}.txt', '[ {name} = owl ]'));
  const make =
    'nightshift create pages --from items.csv --agent shell && nightshift add-task pages greet --from greet.md';
  expect(await play({ run: make })).toMatchObject({ status: 0 });
  const run = await play(start!, { shift: 'pages', arguments: '--rows 1:2 --max-failures 5' });
  expect([run.status, run.stderr]).toEqual([3, '']);
  expect(run.stdout).toContain('1 completed, 1 failed');
  expect(read('output')).toBe('exit-code=3\n');
  expect(await play(summary!)).toMatchObject({ status: 0 });
  expect(read('summary')).toMatch(/^# pages\n\n1 of 2 items is done, 1 failed/);

  // Text of an input is neither a command nor a glob.
  expect((await play(start!, { shift: 'pages; touch hacked', arguments: '$(touch hacked) *' })).status).toBe(2);
  expect(existsSync(join(workspace, 'hacked'))).toBe(false);
  // Without a shift, there is a warning instead of a summary, and the step before tells why.
  expect((await play(summary!, { shift: 'none' })).stdout).toContain('::warning::');

  const upload = action.runs.steps.at(-1)!;
  expect([summary!.if, upload.if].every((condition) => condition!.startsWith('always()'))).toBe(true);
  const paths = upload.with!.path!.trim().split('\n');
  expect(paths).toEqual([
    expect.stringMatching(/\/\.nightshift\/\$\{\{ inputs\.shift \}\}$/),
    expect.stringMatching(/^!.*\/\.nightshift\/\*\*\/\.env\*$/),
  ]);
});
