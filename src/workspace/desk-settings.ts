import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DeskOptions } from './desk.ts';
import { LFS, renderSettings, type Source } from './source.ts';

/** Not for a desk: they are about one folder, or name programs that a commit does not need. */
const LEFT_OUT = new RegExp(
  `^(${[
    'core\\.(bare|worktree|hookspath|fsmonitor|untrackedcache|splitindex|sparsecheckout.*|alternaterefscommand)',
    'core\\.repositoryformatversion|extensions\\..*|index\\..*|branch\\..*|submodule\\..*|include\\..*|includeif\\..*',
    'safe\\..*|alias\\..*|gc\\..*|maintenance\\..*',
  ].join('|')})$`,
  'i',
);

/** As of the start of the run, whatever was written there since. */
export function writeDeskSettings({ folder, source, included = [] }: DeskOptions): void {
  const settings: Source['settings'] = [
    ...(source ? deskSettings(source) : [['core.hookspath', '/dev/null'] as const]),
    ['core.bare', 'false'],
    ['gc.auto', '0'],
    ['maintenance.auto', 'false'],
  ];
  mkdirSync(join(folder, 'info'), { recursive: true });
  mkdirSync(join(folder, 'objects', 'info'), { recursive: true });
  writeFileSync(join(folder, 'config'), renderSettings(settings));
  if (source) {
    writeFileSync(join(folder, 'objects', 'info', 'alternates'), `${join(source.commonDir, 'objects')}\n`);
    const shallow = join(source.commonDir, 'shallow');
    if (existsSync(shallow)) copyFileSync(shallow, join(folder, 'shallow'));
  }
  const own = included.map((path) => `/${path.replace(/[\\*?[ ]/g, '\\$&')}\n`);
  writeFileSync(join(folder, 'info', 'exclude'), `${source?.exclude ?? ''}\n${own.join('')}`);
}

/** The configuration of a desk over this repository. Without Git LFS, its files stay the pointers that they are. */
function deskSettings({ settings, commonDir, objectFormat, hooks, hasLfs }: Source): Source['settings'] {
  const isSha256 = objectFormat === 'sha256';
  return [
    ...settings.filter(([key]) => !LEFT_OUT.test(key) && (hasLfs !== false || !LFS.test(key))),
    ['core.repositoryformatversion', isSha256 ? '1' : '0'],
    ...(isSha256 ? ([['extensions.objectformat', objectFormat]] as const) : []),
    ['core.hookspath', hooks],
    ['lfs.storage', join(commonDir, 'lfs')],
  ];
}
