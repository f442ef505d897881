import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { newSigningKey, signerFrom } from '../../src/fleet/signature.ts';
import { describePostgres, startTestPostgres, type TestPostgres } from '../kit/postgres.ts';
import { Repository } from '../kit/real-git.ts';
import { Model, SUCCESS, verdict } from './model.ts';
import { opencode } from './opencode.ts';
import { type Case, caseFor } from './under-test.ts';

const ITEMS = 12;

describePostgres('opencode in a fleet', () => {
  let model: Model;
  let postgres: TestPostgres;
  beforeAll(async () => {
    [model, postgres] = await Promise.all([Model.start(), startTestPostgres()]);
  });
  afterAll(() => Promise.all([model.stop(), postgres.remove()]));

  /** Processes of a machine's user. */
  const processesAt = ({ home }: Case) =>
    readdirSync('/proc').filter((pid) => /^\d+$/.test(pid) && environmentOf(pid).includes(`HOME=${home.root}\0`));

  const leftAt = ({ home }: Case) => {
    const folder = home.path('.local/state/nightshift/fleet');
    return existsSync(folder) ? readdirSync(folder) : [];
  };

  test('devs on one worker and qas on another share worktrees over the remote, and leave nothing behind', async () => {
    const [own, first, second] = [1, 2, 3].map(() => caseFor(opencode, model)) as [Case, Case, Case];
    const repository = new Repository(own.project.root, { '.gitignore': '.nightshift\n', 'a.txt': 'a\n' });
    const relay = own.home.path('relay.git');
    repository.git('clone', '-q', '--bare', '.', relay);
    repository.git('remote', 'add', 'origin', relay);
    const names = Array.from({ length: ITEMS }, (_, at) => own.unique(`item-${at}`));
    const shift = own.shift(
      names.map((name) => ({
        name,
        dev: [opencode.tools.write(`${name}.txt`, `${name} was here\n`), { report: SUCCESS }],
        qa: [opencode.tools.read(`${name}.txt`), verdict([`${name}.txt is there`])],
      })),
      { settings: { workspace: 'worktree', deliver: 'branch', parallel: true, dispatch: 'stream' } },
    );
    const signingKey = newSigningKey();
    const worker = (at: Case, role: string) => {
      const key = ['--key', signerFrom(signingKey).publicKey];
      const args = ['worker', '--url', postgres.url, ...key, '--name', role, '--slots', '4', '--roles', role];
      return own.project.spawn(args, { env: at.environment, cwd: at.project.root });
    };
    const workers = [worker(first, 'dev'), worker(second, 'qa')];
    const env = { ...own.environment, NIGHTSHIFT_FLEET_SIGNING_KEY: signingKey };
    const { code, stderr } = await shift.spawn(['--fleet', postgres.url], { env }).ended;
    const told = `${stderr}\n${workers.map(({ stdout }) => stdout).join('\n')}`;
    expect([code, shift.column('work')], told).toEqual([0, names.map(() => 'done')]);
    const ends = shift.journal().filter(({ type }) => type === 'dev:finished' || type === 'qa:finished');
    expect(ends.map(({ type, worker }) => `${type} ${worker}`).sort()).toEqual([
      ...names.map(() => 'dev:finished dev'),
      ...names.map(() => 'qa:finished qa'),
    ]);
    for (const name of names) {
      expect(repository.git('show', `nightshift/night/${name}:${name}.txt`)).toBe(`${name} was here`);
      // The qa has seen the file, and not only heard of it.
      expect(model.of(name, 'qa').some(({ text }) => text.includes(`${name} was here`))).toBe(true);
    }
    for (const each of workers) each.kill('SIGTERM');
    for (const each of workers) expect((await each.ended).code, told).toBe(0);
    expect([...processesAt(first), ...processesAt(second)]).toEqual([]);
    expect([...leftAt(first), ...leftAt(second)]).toEqual([]);
    expect(repository.git('worktree', 'list').split('\n')).toHaveLength(1);
    expect(repository.git('--git-dir', relay, 'for-each-ref', 'refs/nightshift')).toBe('');
  });
});

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return '';
  }
}
