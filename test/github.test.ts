import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

interface Step {
  readonly uses?: string;
  readonly run?: string;
  readonly with?: Record<string, string>;
}

const { scripts, repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const action = parse(readFileSync('action.yml', 'utf8')) as {
  readonly inputs: Record<string, { readonly default: string }>;
  readonly runs: { readonly steps: readonly Step[] };
};
const workflow = parse(readFileSync('.github/workflows/ci.yml', 'utf8')) as {
  readonly jobs: Record<string, { readonly steps: readonly Step[]; readonly strategy?: { readonly matrix: object } }>;
};
const guide = readFileSync('docs/ci.md', 'utf8');
/** The workflows that the guide shows. */
const shown = [...guide.matchAll(/^```yaml\n(.*?)^```$/gms)].map(([, text]) => parse(text!) as typeof workflow);
const stepsOf = (flow: typeof workflow) => Object.values(flow.jobs).flatMap(({ steps }) => steps);

test('CI runs scripts of package.json, on Linux and macOS with Node 20, 22 and 24', () => {
  const commands = stepsOf(workflow).flatMap(({ run }) => run ?? []);
  const called = commands.flatMap((command) => /^npm (?:run )?(\S+)$/.exec(command)?.[1] ?? []);
  expect(called.filter((name) => name !== 'ci' && !Object.hasOwn(scripts, name))).toEqual([]);
  expect(called).toEqual(expect.arrayContaining(['lint', 'types', 'unused', 'package', 'test', 'test:portable']));
  const { linux, macos } = workflow.jobs;
  expect([linux, macos].map((job) => job!.strategy!.matrix)).toEqual([{ node: [20, 22, 24] }, { node: [20, 22, 24] }]);
});

test('actions are pinned by major version, and no input becomes shell code', () => {
  const steps = [...stepsOf(workflow), ...action.runs.steps];
  const used = steps.flatMap(({ uses }) => uses ?? []);
  expect(used.filter((name) => !/^actions\/[\w-]+@v\d+$/.test(name))).toEqual([]);
  expect(steps.filter(({ run = '' }) => /\$\{\{/.test(run))).toEqual([]);
});

test('issue templates are forms that GitHub reads', () => {
  for (const name of ['bug', 'feature']) {
    const form = parse(readFileSync(`.github/ISSUE_TEMPLATE/${name}.yml`, 'utf8'));
    expect(form).toMatchObject({ name: expect.any(String), description: expect.any(String) });
    const ids = form.body.flatMap(({ id }: { id?: string }) => id ?? []);
    expect([ids.length > 1, new Set(ids).size]).toEqual([true, ids.length]);
  }
});

test('the guide uses the action of this repository, with inputs that it has', () => {
  const own = /github\.com\/(.+)\.git$/.exec(repository.url)![1]!;
  const uses = shown.flatMap(stepsOf).filter((step) => step.uses?.includes('nightshift'));
  expect(uses.length).toBeGreaterThan(0);
  for (const { uses: name, with: inputs = {} } of uses) {
    expect(name).toMatch(new RegExp(`^${own}@`));
    expect(Object.keys(inputs).filter((input) => !Object.hasOwn(action.inputs, input))).toEqual([]);
  }
  const documents = [
    'README.md',
    'SECURITY.md',
    'CONTRIBUTING.md',
    ...readdirSync('docs').map((name) => `docs/${name}`),
  ];
  const named = documents
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) => readFileSync(file, 'utf8').match(/github\.com\/[\w-]+\/nightshift\b/g) ?? []);
  expect(named.filter((address) => address !== `github.com/${own}`)).toEqual([]);
});
