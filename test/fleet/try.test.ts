import { execFileSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { isAlive, Project, type RunningProcess, until } from '../harness.ts';
import { describePostgres, postgresTest } from '../kit/postgres.ts';

const NOTES = 'nightshift-demo/.nightshift/night-notes';

/** The worker's command, as somebody copies it from the terminal; its words have no spaces here. */
async function copiedCommand(start: RunningProcess): Promise<string[]> {
  const line = await until(
    () => /^ {2}(.+ worker --slots .+)$/m.exec(start.stderr)?.[1],
    () => start.stderr,
  );
  const words = line.split(' ');
  return words.slice(words.indexOf('worker'));
}

/** The process of the one server that has data there. */
function serverIn(folder: string): number | undefined {
  try {
    const [project = ''] = readdirSync(folder);
    return Number.parseInt(readFileSync(join(folder, project, 'data/postmaster.pid'), 'utf8'), 10) || undefined;
  } catch {
    return undefined;
  }
}

describePostgres('nightshift start demo --fleet try', () => {
  postgresTest('two commands in an empty folder run the demo on a worker; the same flags retry it', async () => {
    const project = new Project();
    // As root, the server runs as another user.
    chmodSync(project.root, 0o755);
    const env = { XDG_STATE_HOME: project.path('state') };
    const start = project.spawn(['start', 'demo', '--fleet', 'try'], { env });
    const command = await copiedCommand(start);
    const worker = project.spawn([...command, '--name', 'hands'], { env, cwd: '/' });
    const { code, stdout, stderr } = await start.ended;
    expect(stdout).toContain('24 items, 23 completed, 1 failed, 0 remaining');
    expect(stdout).toContain('failed: make_page, row 7 nightjar on hands after 3 attempts');
    expect(stdout).toContain('`nightshift retry night-notes --fleet try` retries failed items.');
    expect(stdout).toContain('cd nightshift-demo');
    expect(stderr).toContain('PostgreSQL has stopped. Workers wait for the next run');
    expect(code).toBe(3);
    expect(project.read('nightshift-demo/site/index.html')).toContain('barn-owl.html');

    // The server has ended with the run, and comes back at the same address for the same worker.
    project.write('nightshift-demo/notes/nightjar.md', '# Nightjar\n\nIda said yes.\n');
    const cwd = project.path('nightshift-demo');
    const retry = await project.spawn(['retry', '--fleet', 'try'], { env, cwd }).ended;
    expect(retry.stdout).toContain('24 items, 24 completed, 0 failed');

    worker.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
    const password = /:([\w-]{20,})@/.exec(command.join(' '))![1]!;
    expect(readFileSync(project.path(NOTES, '.engine/journal.jsonl'), 'utf8')).not.toContain(password);
  });

  postgresTest('a run in the background has its own server, and no password on its command line', async () => {
    const project = new Project();
    chmodSync(project.root, 0o755);
    const env = { XDG_STATE_HOME: project.path('state') };
    const detached = project.spawn(['start', 'demo', '--fleet', 'try', '--detach'], { env });
    const command = await copiedCommand(detached);
    expect(await detached.ended).toMatchObject({ code: 0, stderr: expect.stringContaining('Start a worker') });
    const cwd = project.path('nightshift-demo');
    const pid = /process (\d+)/.exec((await project.run(['status'], { env, cwd })).stdout)![1]!;
    expect(execFileSync('ps', ['-o', 'args=', '-p', pid], { encoding: 'utf8' })).toContain('--fleet=try');
    const worker = project.spawn(command, { env, cwd });
    await until(() => /,done,done/.test(project.read(`${NOTES}/table.csv`)), 'an item that is done');
    expect(await project.run(['stop', '--now'], { env, cwd })).toMatchObject({ code: 0 });
    worker.kill('SIGTERM');
    expect((await worker.ended).code).toBe(0);
  });

  postgresTest('Ctrl-C before the run has begun leaves no server behind', async () => {
    const project = new Project();
    chmodSync(project.root, 0o755);
    const start = project.spawn(['start', 'demo', '--fleet', 'try'], {
      env: { XDG_STATE_HOME: project.path('state') },
    });
    const servers = project.path('state/nightshift/fleet-try');
    const server = await until(() => serverIn(servers), 'a server');
    start.kill('SIGINT');
    expect(await start.ended).toMatchObject({ code: 130, stderr: expect.not.stringContaining('bug') });
    expect(isAlive(server)).toBe(false);
  });
});
