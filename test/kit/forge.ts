import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { onTestFinished } from 'vitest';
import { Repository } from './real-git.ts';

export interface ForgePull {
  readonly number: number;
  readonly state: string;
  /** Such as `github.com/acme/shop`. */
  readonly repo: string;
  readonly head: string;
  readonly base: string;
  readonly title: string;
  readonly body: string;
}

/** As `glab` shows them. */
export interface ForgeMerge {
  readonly path: string;
  readonly iid: number;
  state: string;
  readonly source_branch: string;
  readonly target_branch: string;
  readonly title: string;
  readonly body: string;
  source_project_id: number;
}

/**
 * A forge on this machine: bare repositories, a `gh` or `glab` that keeps its state in a file, and a person whose git
 * finds the repositories of its host there. It also has the folders for workspaces and mirrors.
 */
export class Forge {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-forge-')));
  readonly workspaces = join(this.root, 'state', 'nightshift', 'workspaces');
  /** What the program runs with. */
  readonly env: Readonly<Record<string, string>>;
  readonly #host: string;

  constructor(host = 'github.com') {
    this.#host = `https://${host}/`;
    onTestFinished(() => rmSync(this.root, { recursive: true, force: true }));
    mkdirSync(join(this.root, 'bin'));
    const [name, program] = host.includes('gitlab') ? ['glab', 'glab.mjs'] : ['gh', 'gh.sh'];
    symlinkSync(resolve('test/fixtures', program), join(this.root, 'bin', name));
    const settings = {
      'user.name': 'A person',
      'user.email': 'person@example.org',
      [`url.${this.root}/.insteadOf`]: this.#host,
      'trace2.normalTarget': join(this.root, 'trace'),
    };
    const config = join(this.root, 'gitconfig');
    for (const [key, value] of Object.entries(settings)) {
      execFileSync('git', ['config', '--file', config, key, value]);
    }
    this.env = {
      PATH: `${join(this.root, 'bin')}:${process.env.PATH}`,
      FORGE: this.root,
      GITLAB_TOKEN: 'a-token',
      GIT_SSH_COMMAND: resolve('test/fixtures/ssh.sh'),
      GIT_CONFIG_GLOBAL: config,
      XDG_STATE_HOME: join(this.root, 'state'),
      XDG_CACHE_HOME: join(this.root, 'cache'),
    };
  }

  /** A bare repository with one commit. Returns its address. */
  create(name: string, files: Readonly<Record<string, string>>): string {
    const made = new Repository(join(this.root, 'made', name), files);
    made.git('clone', '-q', '--bare', '.', join(this.root, `${name}.git`));
    return `${this.#host}${name}.git`;
  }

  git(name: string, ...args: string[]): string {
    return execFileSync('git', ['--git-dir', join(this.root, `${name}.git`), ...args], { encoding: 'utf8' }).trim();
  }

  pulls(): ForgePull[] {
    return linesOf(join(this.root, 'pulls')).map((line) => {
      const [number = '', state = '', repo = '', head = '', base = '', title = ''] = line.split('\t');
      const body = readFileSync(join(this.root, `body-${number}`), 'utf8');
      return { number: Number(number), state, repo, head, base, title, body };
    });
  }

  get merges(): ForgeMerge[] {
    const file = join(this.root, 'merge-requests.json');
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : [];
  }

  set merges(all: ForgeMerge[]) {
    writeFileSync(join(this.root, 'merge-requests.json'), JSON.stringify(all));
  }

  /** How often a remote was fetched from, by all that ran with `env`. */
  fetches(): number {
    return linesOf(join(this.root, 'trace')).filter((line) => / start .* fetch .* origin /.test(line)).length;
  }

  /** The folders of workspaces that are there. */
  folders(): string[] {
    const within = (folder: string) =>
      existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
    return within(this.workspaces).flatMap(within).flatMap(within);
  }
}

function linesOf(file: string): string[] {
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
}
