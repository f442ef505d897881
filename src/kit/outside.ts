import { isAbsolute, relative, resolve } from 'node:path';
import type { Facts } from './nightshift-guard/places.ts';

/** Files outside of the project, also behind a link, are closed to the file tools of our agents. */
export function outsideRefusal(path: string, { project, folder, realOf }: Facts): string | undefined {
  const to = relative(realOf(project), realOf(resolve(folder, path)));
  return to === '..' || to.startsWith('../') || isAbsolute(to) ? `${path} is outside of this project.` : undefined;
}
