import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

const RELEASE = resolve('scripts/release.mjs');

/** This project's own package and change log in a repository of their own. Its gate is a file that may be missing. */
function repository() {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-release-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const file of ['package.json', 'package-lock.json', 'CHANGELOG.md']) cpSync(file, join(root, file));
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const write = (file: string, text: string) => writeFileSync(join(root, file), text);
  const env = {
    ...process.env,
    ...{ GIT_AUTHOR_NAME: 'Ida', GIT_AUTHOR_EMAIL: 'ida@example.com' },
    ...{ GIT_COMMITTER_NAME: 'Ida', GIT_COMMITTER_EMAIL: 'ida@example.com', GIT_CONFIG_GLOBAL: '/dev/null' },
  };
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root, env, encoding: 'utf8' }).trim();
  const commit = () => git('commit', '-qam', 'Change something');
  const release = (...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(process.execPath, [RELEASE, ...args], {
      cwd: root,
      env,
      encoding: 'utf8',
    });
    return { status, stdout, stderr };
  };
  write('package.json', JSON.stringify({ ...JSON.parse(read('package.json')), scripts: { check: 'test -e passes' } }));
  write('CHANGELOG.md', read('CHANGELOG.md').replace(/^## Unreleased\n/m, '$&\n- Something new.\n'));
  write('passes', '');
  git('init', '-q');
  git('add', '.');
  commit();
  return { read, write, git, commit, release };
}

test('a release sets the version, dates the section, commits and tags; a dry run only says so', () => {
  const { read, git, release } = repository();
  const before = [git('log', '--oneline'), read('package.json'), read('CHANGELOG.md')];
  const dry = release('9.2.0', '--dry-run');
  expect(dry).toMatchObject({ status: 0, stderr: '', stdout: expect.stringContaining('tag the commit v9.2.0') });
  expect([git('log', '--oneline'), read('package.json'), read('CHANGELOG.md')]).toEqual(before);
  expect([git('status', '--porcelain'), git('tag')]).toEqual(['', '']);

  expect(release('9.2.0')).toMatchObject({ status: 0, stdout: expect.stringContaining('released 9.2.0') });
  expect(JSON.parse(read('package.json')).version).toBe('9.2.0');
  expect(JSON.parse(read('package-lock.json'))).toMatchObject({
    version: '9.2.0',
    packages: { '': { version: '9.2.0' } },
  });
  expect(read('CHANGELOG.md')).toMatch(/^## Unreleased\n\n## 9\.2\.0 - \d{4}-\d\d-\d\d\n\n- Something new\.$/m);
  expect([git('status', '--porcelain'), git('log', '-1', '--format=%s')]).toEqual(['', 'Release 9.2.0']);
  expect(git('rev-parse', 'v9.2.0^{commit}')).toBe(git('rev-parse', 'HEAD'));
  // Nothing is new now, so there is nothing to release.
  expect(release('9.3.0')).toMatchObject({ status: 2, stderr: expect.stringContaining('has no entries') });
});

test('a release that is not ready is refused and changes nothing', () => {
  const { read, write, git, commit, release } = repository();
  const changes = read('CHANGELOG.md');
  const refused = (version: string, reason: string) => {
    const before = [git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag'), read('CHANGELOG.md')];
    expect(release(version)).toMatchObject({ status: 2, stderr: expect.stringContaining(reason) });
    expect([git('rev-parse', 'HEAD'), git('status', '--porcelain'), git('tag'), read('CHANGELOG.md')]).toEqual(before);
  };
  refused('nine', 'usage');
  refused('0.1.0', 'not newer than 0.1.0');
  git('tag', 'v9.0.0');
  refused('9.0.0', 'the tag v9.0.0 exists');

  write('CHANGELOG.md', changes.replace(/^## 0\.1\.0 .*$/m, '## 0.1.0'));
  refused('9.1.0', 'not clean');
  commit();
  refused('9.1.0', '"0.1.0" in CHANGELOG.md has no date');
  write('CHANGELOG.md', changes.replace(/^## Unreleased$/m, '## Soon'));
  commit();
  refused('9.1.0', 'does not begin with a section "## Unreleased"');

  write('CHANGELOG.md', changes);
  git('rm', '-q', 'passes');
  commit();
  refused('9.1.0', '`npm run check` failed');
});
