import { existsSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** Resolves a path, even if it does not exist yet. Circular links resolve to nothing. */
export function realOf(path: string, hops = 40): string {
  try {
    return realpathSync(path);
  } catch {}
  try {
    if (hops > 0) return realOf(resolve(dirname(path), readlinkSync(path)), hops - 1);
  } catch {}
  const parent = dirname(path);
  return parent === path ? path : join(realOf(parent, hops), path.slice(parent.length));
}

/** The nearest folder at or above that holds `.nightshift`; the folder itself if there is none. */
export function projectAt(folder: string): string {
  for (let each = resolve(folder); ; each = dirname(each)) {
    if (existsSync(join(each, '.nightshift'))) return each;
    if (each === dirname(each)) return resolve(folder);
  }
}

/** Whether the Task Order of a shift has this task. If it can't be read, every name may be a task. */
export function isTaskIn(project: string, shift: string, task: string): boolean {
  try {
    const text = readFileSync(join(project, '.nightshift', shift, 'manager.md'), 'utf8').toLowerCase();
    const [, taskOrder] = text.split(/^## +task order.*$/m);
    return (
      taskOrder === undefined ||
      taskOrder
        .split(/^## /m, 1)[0]!
        .split(/[^\w-]+/)
        .includes(task.toLowerCase())
    );
  } catch {
    return true;
  }
}
