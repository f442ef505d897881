import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Project, type ShiftHandle, shellTask } from '../harness.ts';

export interface FakePullRequest {
  readonly url: string;
  readonly head: string;
  readonly title: string;
  readonly body: string;
  state: string;
}

/** A project beside a repository `repository` with a bare remote `remote.git`, and a `gh` that keeps state. */
export class RepositoryProject extends Project {
  /** For every command: no workspace or lock is made outside of the project. */
  readonly env: Record<string, string> = {
    XDG_STATE_HOME: this.path('state'),
    XDG_CACHE_HOME: this.path('cache'),
    GIT_CONFIG_GLOBAL: this.path('gitconfig'),
    PATH: `${this.path('bin')}:${process.env.PATH}`,
    FAKE_GH: this.path('pull-requests.json'),
    GH_TOKEN: 'a-token',
  };

  constructor(files: Readonly<Record<string, string>> = { 'a.txt': 'a\n' }) {
    super();
    this.write('gitconfig', '[user]\n\tname = Person\n\temail = person@example.org\n[init]\n\tdefaultBranch = main\n');
    mkdirSync(this.path('bin'));
    copyFileSync(resolve('test/fixtures/gh.mjs'), this.path('bin/gh'));
    chmodSync(this.path('bin/gh'), 0o755);
    for (const [file, text] of Object.entries(files)) this.write(`repository/${file}`, text);
    this.git('repository', 'init', '-q');
    this.git('repository', 'add', '-A');
    this.git('repository', 'commit', '-qm', 'first');
    this.git('.', 'clone', '-q', '--bare', 'repository', 'remote.git');
    this.git('repository', 'remote', 'add', 'origin', this.path('remote.git'));
  }

  git(folder: string, ...args: string[]): string {
    const env = { ...process.env, GIT_CONFIG_GLOBAL: this.path('gitconfig') };
    return execFileSync('git', args, { cwd: this.path(folder), env, encoding: 'utf8', stdio: 'pipe' }).trim();
  }

  /** A shift with one row for each name; each writes what `step` says. */
  rows(names: readonly string[], step: string, settings: Record<string, string | number | boolean> = {}): ShiftHandle {
    const outputs = settings.deliver === 'pr' ? '- outputs: branch, commit, pr_url, pr_state' : '';
    const header = `name,work${outputs === '' ? '' : ',branch,commit,pr_url,pr_state'}`;
    const blank = outputs === '' ? '' : ',,,,';
    return this.shift('night', {
      settings: { agent: 'shell', 'working-dir': 'repository', workspace: 'worktree', attempts: 1, ...settings },
      table: `${header}\n${names.map((name) => `${name},todo${blank}\n`).join('')}`,
      tasks: { work: shellTask(step, 'test -e a.txt', outputs) },
    });
  }

  get pullRequests(): FakePullRequest[] {
    const file = this.path('pull-requests.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  }

  set pullRequests(all: FakePullRequest[]) {
    writeFileSync(this.path('pull-requests.json'), JSON.stringify(all));
  }

  command(args: readonly string[], answers?: readonly string[]): ReturnType<Project['run']> {
    return this.run(args, { env: this.env, ...(answers === undefined ? {} : { answers }) });
  }
}
