import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** One open file of a process; `link` is its path, or `pipe:[NUMBER]`. */
export interface OpenFile {
  readonly pid: number;
  readonly fd: string;
  readonly link: string;
}

/** How it was opened: 0 to read, 1 to write, 2 for both. */
export function hasFlags(file: OpenFile, modes: readonly number[]): boolean {
  const flags = infoOf(file, /^flags:\s*(\d+)/m);
  return flags !== undefined && modes.includes(Number.parseInt(flags, 8) & 3);
}

export function infoOf({ pid, fd }: OpenFile, pattern: RegExp): string | undefined {
  return pattern.exec(read(`/proc/${pid}/fdinfo/${fd}`))?.[1];
}

export function openFilesOf(pid: string): OpenFile[] {
  return list(`/proc/${pid}/fd`).map((fd) => ({ pid: Number(pid), fd, link: linkOf(`/proc/${pid}/fd/${fd}`) }));
}

/** Empty if the process is gone or belongs to another user. */
export function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function linkOf(path: string): string {
  try {
    return readlinkSync(path);
  } catch {
    return '';
  }
}

/** Files that agents have open for writing, with the NIGHTSHIFT_KEY of their items. Linux only. */
export function keysOfWriters(): Map<string, Set<string>> {
  const writers = new Map<string, Set<string>>();
  for (const pid of list('/proc').filter((name) => /^\d+$/.test(name))) {
    const key = /(?:^|\0)NIGHTSHIFT_KEY=([^\0]*)/.exec(read(`/proc/${pid}/environ`))?.[1];
    if (key === undefined) continue;
    for (const file of openFilesOf(pid)) {
      if (!file.link.startsWith('/') || !hasFlags(file, [1, 2])) continue;
      writers.set(file.link, (writers.get(file.link) ?? new Set()).add(key));
    }
  }
  return writers;
}
