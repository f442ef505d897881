import { copyFileSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { DeskOptions } from './desk.ts';
import { CALM, ownSettings, renderSettings, type Settings } from './settings.ts';
import { LFS, type Source } from './source.ts';
import { writeIfNew } from './write-if-new.ts';

/** Not for a desk: it has a format, an index and branches of its own. */
const LEFT_OUT = ['core\\.(bare|repositoryformatversion)|extensions\\..*|index\\..*|branch\\..*|submodule\\..*'];

/** Where the source is kept whose settings a desk has. */
export const KEPT_IN = 'nightshift.source';

/** As of the start of the run, whatever was written there since. */
export function writeDeskSettings({ folder, source, included = [] }: DeskOptions): void {
  const settings: Settings = [
    ...(source ? deskSettings(source) : [['core.hookspath', '/dev/null'] as const]),
    ['core.bare', 'false'],
    ['core.logallrefupdates', 'false'],
    ...CALM,
  ];
  mkdirSync(join(folder, 'info'), { recursive: true });
  mkdirSync(join(folder, 'objects', 'info'), { recursive: true });
  writeIfNew(join(folder, 'config'), renderSettings(settings));
  if (source) {
    writeIfNew(join(folder, 'objects', 'info', 'alternates'), `${join(source.commonDir, 'objects')}\n`);
    const shallow = join(source.commonDir, 'shallow');
    if (existsSync(shallow)) copyFileSync(shallow, join(folder, 'shallow'));
  }
  const own = included.map((path) => `/${path.replace(/[\\*?[ ]/g, '\\$&')}\n`);
  writeIfNew(join(folder, 'info', 'exclude'), `${source?.exclude ?? ''}\n${own.join('')}`);
}

/** The configuration of a desk over this repository. Without Git LFS, its files stay the pointers that they are. */
function deskSettings({ settings, commonDir, standIn, objectFormat, hooks, hasLfs }: Source): Settings {
  const isSha256 = objectFormat === 'sha256';
  return [
    ...ownSettings(settings, LEFT_OUT).filter(([key]) => hasLfs !== false || !LFS.test(key)),
    ['core.repositoryformatversion', isSha256 ? '1' : '0'],
    ...(isSha256 ? ([['extensions.objectformat', objectFormat]] as const) : []),
    ['core.hookspath', hooks],
    ['lfs.storage', join(commonDir, 'lfs')],
    [KEPT_IN, dirname(standIn)],
  ];
}
