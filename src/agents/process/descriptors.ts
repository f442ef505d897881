import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';

const F_SETFD = 2;
const FD_CLOEXEC = 1;
const FIRST = 3;

let isDone = false;

/**
 * Keeps descriptors that Nightshift itself was started with from its children: one of a folder outside would lead out
 * of a sandbox. Those that Node opens stay here anyway. Linux only.
 */
export function keepDescriptors(): void {
  if (isDone) return;
  isDone = true;
  try {
    const koffi = createRequire(import.meta.url)('koffi') as typeof import('koffi');
    const fcntl = koffi.load(null).func('int fcntl(int fd, int command, ...)');
    const open = readdirSync('/proc/self/fd').map(Number);
    for (const fd of open) if (fd >= FIRST) fcntl(fd, F_SETFD, 'int', FD_CLOEXEC);
  } catch {
    // Without the library, Node's own spawn does what it can.
  }
}
