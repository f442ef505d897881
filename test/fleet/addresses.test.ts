import { expect, test } from 'vitest';
import { newSigningKey, signerFrom } from '../../src/fleet/signature.ts';
import { Project, shellTask } from '../harness.ts';
import { describeServer } from '../kit/postgres.ts';

const KEY = signerFrom(newSigningKey()).publicKey;

describeServer('the address of a fleet', (postgres) => {
  const changed = (change: (url: URL) => void) => {
    const url = new URL(postgres.url);
    change(url);
    return url.href;
  };

  /** Each command that connects, with this address. */
  async function refusals(url: string): Promise<string[]> {
    const project = new Project();
    const shift = project.shift('fleet', {
      table: 'name,work\na,todo\n',
      tasks: { work: shellTask('true', 'true', '- agent: shell\n- workspace: none') },
    });
    const env = { XDG_STATE_HOME: project.path('state') };
    const ended = await Promise.all([
      project.run(['worker', '--url', url, '--key', KEY], { env }),
      project.run(['fleet', 'status', '--url', url], { env }),
      project.run(['start', 'fleet', '--fleet', url], { env }),
    ]);
    for (const { code, stderr } of ended) expect({ code, stderr }).toMatchObject({ code: 2 });
    expect(shift.column('work')).toEqual(['todo']);
    return ended.map(({ stderr }) => stderr);
  }

  test.each([
    ['no address', () => 'mysql://x@localhost/db', /is not a PostgreSQL URL/, /postgres:\/\//],
    ['a host without TLS', () => 'postgres://u:p@db.example/x', /connection to db.example would not be/, /verify-full/],
    ['a host in the query', () => 'postgres:///x?host=db.example', /connection to db.example would not/, /--insecure/],
    ['a second host', () => 'postgres://localhost/x?host=db.example&sslmode=require', /to db.example would/, /verify/],
    [
      'a wrong password',
      () => changed((url) => (url.password = 'wrong')),
      /password authentication failed/,
      /check the user/,
    ],
    [
      'a wrong database',
      () => changed((url) => (url.pathname = '/nothing')),
      /"nothing" does not exist/,
      /the name of/,
    ],
    ['TLS that the server lacks', () => `${postgres.url}?sslmode=verify-full`, /does not support SSL/, /turn on TLS/],
  ])('%s is refused with its cause and its fix', async (_, url, cause, fix) => {
    for (const text of await refusals(url())) {
      expect(text).toMatch(cause);
      expect(text).toMatch(fix);
      expect(text).not.toContain(new URL(postgres.url).password);
    }
  });

  test('a server that can’t be reached ends a start, and a worker waits for it', async () => {
    const url = changed((address) => {
      address.port = '1';
    });
    const project = new Project();
    const shift = project.shift('fleet', {
      table: 'name,work\na,todo\n',
      tasks: { work: shellTask('true', 'true', '- agent: shell\n- workspace: none') },
    });
    const { code, stderr } = await shift.start(['--fleet', url]);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/ECONNREFUSED.*\n?.*the server is running/),
    });
    const worker = project.spawn(['worker', '--url', url, '--key', KEY]);
    await expect
      .poll(() => worker.stdout, { timeout: 30_000 })
      .toContain("can't use the database: connect ECONNREFUSED");
    worker.child.kill('SIGTERM');
    expect(await worker.ended).toMatchObject({ code: 0 });
  });
});
