import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'nightshift-copy-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** The files of this repository as a fresh clone has them: nothing that git ignores, no `node_modules`, no `dist`. */
export function copyRepository(to: string, keep: (file: string) => boolean = () => true): void {
  const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '-z'], {
    encoding: 'utf8',
  });
  for (const file of listed.split('\0').filter((name) => name !== '' && keep(name))) {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) continue;
    mkdirSync(join(to, dirname(file)), { recursive: true });
    cpSync(file, join(to, file));
  }
}

/** Packages come from npm's cache where it has them: `npm ci` in this repository filled it. */
export const FROM_CACHE = { npm_config_prefer_offline: 'true', npm_config_update_notifier: 'false' };
