import { existsSync, readdirSync, realpathSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { confine, isInside, type Sandbox, whyNotConfined } from '../../core/workspace/sandbox.ts';
import type { Work } from './work.ts';

type Confined = Pick<Work, 'order' | 'site' | 'folder' | 'workspace' | 'scratch'>;

/** What the agent, the checks and `setup` of an order can see, write and reach; undefined: all that you can. */
export function sandboxOf(work: Confined): { readonly sandbox?: Sandbox } {
  const { order, site, folder, workspace, scratch } = work;
  const mode = order.settings.sandbox;
  if (mode === 'off') return {};
  const { root, folder: shiftFolder } = order.shift;
  const sandbox = confine({
    mode,
    home: homeOf(work),
    temporary: tmpdir(),
    workspace: workspace?.top ?? folder,
    isShared: workspace === undefined,
    scratch: scratch.folder,
    root,
    repositories: workspace?.reads ?? [],
    secrets: [...secretsOfOthers(shiftFolder), ...(site.others?.files ?? []).map(realOf)].filter((file) =>
      existsSync(file),
    ),
    path: site.secrets.PATH ?? site.agents.caller.PATH ?? '',
  });
  return { sandbox };
}

/** Why an order can't be confined, if so. */
export function whyUnconfinable(work: Confined): string | undefined {
  const { order, folder, workspace } = work;
  if (order.settings.sandbox === 'off') return undefined;
  const { root } = order.shift;
  const written = workspace?.top ?? folder;
  const real = { written: realOf(written), root: realOf(root) };
  // An agent of an earlier item may have put a link there.
  if (isInside(written, root) && !isInside(real.written, real.root)) {
    return `working-dir ${written} leads out of the project by a symbolic link, which the sandbox does not follow`;
  }
  return whyNotConfined(real.written, { home: realOf(homeOf(work)), root: real.root });
}

function homeOf({ site }: Confined): string {
  return site.agents.caller.HOME ?? homedir();
}

/** The `.env` of other shifts. Its own values are in the environment. */
function secretsOfOthers(shiftFolder: string): string[] {
  const folder = dirname(shiftFolder);
  const shifts = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const others = shifts.map(({ name }) => join(folder, name)).filter((each) => each !== shiftFolder);
  return others.map((each) => join(each, '.env'));
}

function realOf(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
