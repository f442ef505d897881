import { fstatSync, realpathSync, type Stats, statSync } from 'node:fs';
import { hasFlags, infoOf, linkOf, list, type OpenFile, openFilesOf, read } from './open-files.ts';

const TICKS_PER_SECOND = 100;

/**
 * Finds the files that receive the output of this process and of others that print a run, such as `nightshift attach`.
 * On Linux it also looks behind pipes and terminals (`| tee night.log`, `script night.log`), at files that the reading
 * program has open for writing. That program must be older than this call, so that no agent can be one.
 */
export function outputFinder(): () => ReadonlySet<string> {
  const since = (startOf(process.pid) ?? 0) + process.uptime() * TICKS_PER_SECOND;
  return () => {
    const files = new Set<string>();
    const piped = [1, 2].filter((fd) => !addFile(files, () => fstatSync(fd)));
    if (process.platform === 'linux') follow(files, piped, since);
    return files;
  };
}

/** False for a pipe, a terminal or a device. */
function addFile(files: Set<string>, stat: () => Stats): boolean {
  try {
    const stats = stat();
    if (stats.isFile()) files.add(`${stats.dev}:${stats.ino}`);
    return stats.isFile();
  } catch {
    return false;
  }
}

function follow(files: Set<string>, piped: readonly number[], since: number): void {
  const processes = list('/proc').filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const own = piped.map((fd) => linkOf(`/proc/self/fd/${fd}`));
  const left = [...own, ...processes.filter(isNightshift).flatMap((pid) => outputOf(files, pid))];
  const seen = new Set(left);
  const open = left.some(isChannel) ? processes.filter((pid) => isOlder(pid, since)).flatMap(openFilesOf) : [];
  for (let channel = left.pop(); channel !== undefined; channel = left.pop()) {
    if (!isChannel(channel)) continue;
    const readers = new Set(open.filter((file) => isReadFrom(channel!, file)).map(({ pid }) => pid));
    for (const file of open) {
      if (!readers.has(file.pid) || !hasFlags(file, [1, 2])) continue;
      if (addFile(files, () => statSync(`/proc/${file.pid}/fd/${file.fd}`)) || seen.has(file.link)) continue;
      seen.add(file.link);
      left.push(file.link);
    }
  }
}

/** Whether it is another process of this program that no agent started. */
function isNightshift(pid: string): boolean {
  const program = read(`/proc/${pid}/cmdline`).split('\0')[1];
  if (!program || real(program) !== real(process.argv[1] ?? '')) return false;
  return !`\0${read(`/proc/${pid}/environ`)}`.includes('\0NIGHTSHIFT_ROLE=');
}

function outputOf(files: Set<string>, pid: string): string[] {
  const fds = [1, 2].map((fd) => `/proc/${pid}/fd/${fd}`);
  return fds.filter((fd) => !addFile(files, () => statSync(fd))).map(linkOf);
}

function isChannel(link: string): boolean {
  return link.startsWith('pipe:') || link.startsWith('/dev/pts/') || isNamedPipe(link);
}

function isNamedPipe(link: string): boolean {
  try {
    return link.startsWith('/') && statSync(link).isFIFO();
  } catch {
    return false;
  }
}

/** The reader of a terminal is the program that holds its other end. */
function isReadFrom(channel: string, file: OpenFile): boolean {
  const terminal = /^\/dev\/pts\/(\d+)$/.exec(channel)?.[1];
  if (terminal === undefined) return file.link === channel && hasFlags(file, [0, 2]);
  return file.link.endsWith('/ptmx') && infoOf(file, /^tty-index:\s*(\d+)/m) === terminal;
}

function isOlder(pid: string, since: number): boolean {
  const start = startOf(Number(pid));
  return start !== undefined && start <= since;
}

/** In ticks since the system started. */
function startOf(pid: number): number | undefined {
  const fields = read(`/proc/${pid}/stat`).split(') ').pop()?.split(' ');
  return fields?.[19] === undefined ? undefined : Number(fields[19]);
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return '';
  }
}
