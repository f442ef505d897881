import { execFile, execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Git } from '../../src/workspace/git.ts';

const CALM = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };

/** The installed git, without the configuration of whoever runs the tests. Several calls may run at once. */
export const realGit: Git = {
  run: ({ folder, args, env, input = '' }) =>
    new Promise((resolve) => {
      const options = { cwd: folder, env: { ...process.env, ...CALM, ...env }, maxBuffer: Number.POSITIVE_INFINITY };
      const { stdin } = execFile('git', args, options, (error, text, said) => {
        if (error === null) resolve({ kind: 'done', text, said });
        else if (typeof error.code === 'number') resolve({ kind: 'refused', code: error.code, said: `${text}${said}` });
        else resolve({ kind: 'not-run', reason: error.message });
      });
      // It need not read its input.
      stdin?.on('error', () => {}).end(input);
    }),
};

/** A repository in a folder, with one commit. */
export class Repository {
  readonly folder: string;

  constructor(folder: string, files: Readonly<Record<string, string>> = {}) {
    this.folder = folder;
    mkdirSync(folder, { recursive: true });
    this.git('init', '-q', '-b', 'main');
    this.git('config', 'user.name', 'A person');
    this.git('config', 'user.email', 'person@example.org');
    this.commit('begin', files);
  }

  git(...args: string[]): string {
    const env = { ...process.env, ...CALM };
    return execFileSync('git', args, { cwd: this.folder, encoding: 'utf8', env, stdio: 'pipe' }).trim();
  }

  write(file: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.folder, file)), { recursive: true });
    writeFileSync(join(this.folder, file), content);
  }

  commit(message: string, files: Readonly<Record<string, string>> = {}): string {
    for (const [file, text] of Object.entries(files)) this.write(file, text);
    this.git('add', '--all');
    this.git('commit', '-q', '--allow-empty', '-m', message);
    return this.git('rev-parse', 'HEAD');
  }
}
