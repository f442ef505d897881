import { expect, test } from 'vitest';
import { Project, shellTask } from '../harness.ts';
import { Forge } from '../kit/forge.ts';

const NAMES = Array.from({ length: 12 }, (_, i) => `service-${i + 1}`);

test('W8 W9 two tasks in each of 12 repositories: a pull request each, with one commit; again: nothing; retry: the same one', async () => {
  const forge = new Forge();
  const project = new Project();
  for (const name of NAMES) forge.create(`acme/${name}`, { 'version.txt': '1.0.0\n', 'README.md': `# ${name}\n` });
  project.write('wanted', '2.0.0\n');
  const upgrade = `printf 'old=%s\\n' "$(cat version.txt)" >> "$NIGHTSHIFT_OUTPUT"
cp ${project.path('wanted')} version.txt
git -c user.name=agent -c user.email=agent@example.org commit -qam "An agent's own"`;
  const shift = project.shift('night', {
    settings: {
      ...{ agent: 'shell', parallel: true, 'current-batch-size': 6, dispatch: 'stream' },
      ...{ workspace: 'clone', repo: 'https://github.com/acme/{name}.git', deliver: 'pr' },
      ...{ message: 'Upgrade {name} from {old}', 'pr-title': 'Upgrade {name}', 'pr-body': 'It was at {old}.' },
    },
    table: `name,upgrade,describe\n${NAMES.map((name) => `${name},todo,todo\n`).join('')}`,
    tasks: {
      upgrade: shellTask(upgrade, '! grep -q 1.0.0 version.txt', '- outputs: old'),
      describe: shellTask('cp version.txt CHANGES', 'test -s CHANGES', '- outputs: branch, pr_url, pr_state'),
    },
  });

  const first = await shift.start([], { env: forge.env });
  expect([first.code, shift.column('describe')]).toEqual([0, NAMES.map(() => 'done')]);
  expect(first.events.filter(({ type }) => type === 'run:warning')).toEqual([]);
  const pulls = new Map(forge.pulls().map((pull) => [pull.repo, pull]));
  expect([pulls.size, forge.pulls().length]).toEqual([12, 12]);
  for (const [row, name] of NAMES.entries()) {
    const pull = pulls.get(`github.com/acme/${name}`)!;
    expect(pull).toMatchObject({ state: 'OPEN', title: `Upgrade ${name}`, body: 'It was at 1.0.0.' });
    const { branch, pr_url, pr_state } = shift.rows()[row]!;
    expect([branch, pr_url, pr_state]).toEqual([pull.head, `https://${pull.repo}/pull/${pull.number}`, 'open']);
    const log = forge.git(`acme/${name}`, 'log', '--format=%an|%s', `main..${branch}`);
    expect(log).toBe(`A person|Upgrade ${name} from 1.0.0`);
    expect(forge.git(`acme/${name}`, 'show', `${branch}:CHANGES`)).toBe('2.0.0');
  }
  expect([forge.fetches(), forge.folders()]).toEqual([12, []]);

  const heads = () =>
    NAMES.map((name) => forge.git(`acme/${name}`, 'for-each-ref', '--format=%(refname) %(objectname)'));
  const before = heads();
  expect((await shift.start([], { env: forge.env })).code).toBe(0);
  expect([heads(), forge.pulls().length]).toEqual([before, 12]);

  project.write('wanted', '2.1.0\n');
  expect((await project.run(['table', 'night', 'reset', '--row', '3'])).code).toBe(0);
  expect((await shift.start([], { env: forge.env })).code).toBe(0);
  expect(forge.pulls()).toHaveLength(12);
  const { branch } = shift.rows()[2]!;
  expect(forge.git('acme/service-3', 'show', `${branch}:CHANGES`)).toBe('2.1.0');
  expect(forge.git('acme/service-3', 'rev-list', '--count', `main..${branch}`)).toBe('1');
  expect(heads().filter((refs, i) => refs !== before[i])).toHaveLength(1);
});
