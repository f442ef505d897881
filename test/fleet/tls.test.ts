import { execFileSync } from 'node:child_process';
import { chownSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { findServerUser } from '../../src/fleet/postgres/server-user.ts';
import { shellTask } from '../harness.ts';
import { describePostgres, postgresFolder, TestPostgres } from '../kit/postgres.ts';
import { eventually } from './eventually.ts';
import { FleetSite, tableOf } from './fleet-kit.ts';

/** A private CA and the certificate that it issued for `localhost`, and only for that name. */
class Certificates implements Disposable {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    this.#makeAuthority('ca');
    this.#makeAuthority('other-ca');
    writeFileSync(this.file('names'), 'subjectAltName=DNS:localhost\n');
    this.#openssl([
      'req',
      ...NEW_KEY,
      '-keyout',
      this.file('server.key'),
      '-out',
      this.file('request'),
      ...subject('db'),
    ]);
    const issuer = ['-CA', this.file('ca'), '-CAkey', this.file('ca.key'), '-set_serial', '1'];
    const issued = ['-extfile', this.file('names'), '-days', '2', '-out', this.file('server')];
    this.#openssl(['x509', '-req', '-in', this.file('request'), ...issuer, ...issued]);
  }

  file(name: string): string {
    return join(this.#folder, name);
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true });
  }

  #makeAuthority(name: string): void {
    const files = ['-keyout', this.file(`${name}.key`), '-out', this.file(name)];
    this.#openssl(['req', '-x509', ...NEW_KEY, ...files, '-days', '2', ...subject(name)]);
  }

  #openssl(args: readonly string[]): void {
    execFileSync('openssl', args, { stdio: 'pipe' });
  }
}

/** As the server logs it. */
const LOGIN = 'connection authorized: user=';
const NEW_KEY = ['-newkey', 'rsa:2048', '-nodes'];
const subject = (name: string) => ['-subj', `/CN=${name}`];

describePostgres('a fleet over TLS', () => {
  let certificates: Certificates;
  let postgres: TestPostgres;

  beforeAll(async () => {
    certificates = new Certificates(await postgresFolder());
    const user = await findServerUser();
    // PostgreSQL refuses a key that others can read.
    if (user) chownSync(certificates.file('server.key'), user.uid, user.gid);
    postgres = new TestPostgres({
      settings: {
        ssl: 'on',
        log_connections: 'on',
        ssl_cert_file: certificates.file('server'),
        ssl_key_file: certificates.file('server.key'),
      },
    });
    await postgres.start();
  });
  afterAll(async () => {
    await postgres.remove();
    certificates[Symbol.dispose]();
  });

  const newSite = (url: string) =>
    new FleetSite({
      postgres: { url },
      table: tableOf(4, ['work']),
      tasks: () => ({ work: shellTask('sleep 1', 'true', '- agent: shell\n- workspace: none') }),
    });

  const address = (host: string, authority?: string) => {
    const url = new URL(postgres.url);
    url.hostname = host;
    url.searchParams.set('sslmode', 'verify-full');
    if (authority !== undefined) url.searchParams.set('sslrootcert', certificates.file(authority));
    return url.href;
  };

  test.each([
    ['an authority that is not known', () => address('localhost'), /certificate/],
    ['another authority', () => address('localhost', 'other-ca'), /certificate/],
    ['another host name', () => address('127.0.0.1', 'ca'), /127\.0\.0\.1/],
    ['a file that is missing', () => address('localhost', 'no-such-file'), /no-such-file/],
  ])('%s is refused before the login, with the fix', async (_, url, cause) => {
    const site = newSite(url());
    const before = postgres.log.length;
    const commands = [site.command(['fleet', 'init', '--url', url()]), site.coordinator(), site.worker('refused')];
    for (const command of commands) {
      expect(await command.ended).toMatchObject({ code: 2 });
      expect(command.log).toMatch(cause);
      expect(command.log).toMatch(/sslrootcert/);
      expect(command.log).not.toContain(new URL(postgres.url).password);
    }
    expect(postgres.log.slice(before)).not.toContain(LOGIN);
    expect(site.shift.column('work')).toEqual(['todo', 'todo', 'todo', 'todo']);
  });

  test('all connections of a fleet with the addresses of `fleet init` are encrypted', async () => {
    const admin = newSite(address('localhost', 'ca'));
    const { stdout } = await admin.project.run(['fleet', 'init', '--url', admin.url]);
    const [owner, worker] = [...stdout.matchAll(/NIGHTSHIFT_FLEET_URL='(.+)'/g)].map(([, url]) => url!);
    const site = newSite(owner!);
    const other = site.worker('w1', { url: worker! });
    const coordinator = site.coordinator();
    const connections = () =>
      postgres.query<{ usename: string; ssl: boolean }>(
        `select usename, ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name = 'nightshift'`,
      );
    const roles = async () => new Set((await connections()).map(({ usename }) => usename));
    await eventually('both sides', async () => (await roles()).size === 2);
    expect(postgres.log).toContain(LOGIN);
    expect(await connections()).not.toContainEqual(expect.objectContaining({ ssl: false }));
    expect(await coordinator.ended).toMatchObject({ code: 0 });
    expect(site.shift.column('work')).toEqual(['done', 'done', 'done', 'done']);
    await other.kill('SIGTERM');
  });
});
