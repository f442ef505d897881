import { type ErrorCode, NightshiftError } from './errors.ts';

/** A resource is exhausted right now; other processes will release it. */
const PASSING = ['EMFILE', 'ENFILE', 'EAGAIN', 'EINTR', 'ENOMEM', 'ENOBUFS'];

/** A temporary failure: the same call may soon work. */
export function isTransient(error: unknown): boolean {
  return PASSING.includes(codeOf(error)) || codeOf(error) === 'resources';
}

interface Refusal {
  readonly code: ErrorCode;
  readonly message: (file: string, code: string) => string;
  readonly hint: string;
}

const MAKE_ROOM = 'nothing was lost: make room, then run `nightshift start` to continue';
const CHECK_DISK = 'check the disk, or its network connection, before you continue';
const NO_ROOM: Refusal = {
  code: 'disk',
  message: (file) => `no room left on the disk to write ${file}`,
  hint: MAKE_ROOM,
};
const NO_PERMISSION: Refusal = {
  code: 'bad-folder',
  message: (file, code) => `no permission for ${file} (${code})`,
  hint: 'give this user the permission, then start again',
};
const BROKEN: Refusal = {
  code: 'disk',
  message: (file, code) => `the disk failed at ${file} (${code})`,
  hint: CHECK_DISK,
};
const NO_FILES: Refusal = {
  code: 'resources',
  message: (file, code) => `too many open files (${code}): ${file}`,
  hint: 'nothing was lost: allow more (ulimit -n), or lower max-batch-size, then start again',
};
const NO_MEMORY: Refusal = {
  code: 'resources',
  message: (file, code) => `the system has no memory or processes left (${code}): ${file}`,
  hint: 'nothing was lost: end other programs, allow more (ulimit -u), or lower max-batch-size, then start again',
};

const REFUSALS: Readonly<Record<string, Refusal>> = {
  ENOSPC: NO_ROOM,
  EDQUOT: NO_ROOM,
  EFBIG: NO_ROOM,
  EROFS: NO_PERMISSION,
  EACCES: NO_PERMISSION,
  EPERM: NO_PERMISSION,
  ELOOP: {
    code: 'bad-folder',
    message: (file) => `${file} is a symbolic link`,
    hint: 'remove the link: Nightshift writes only inside of the shift folder',
  },
  ENAMETOOLONG: {
    code: 'bad-folder',
    message: () => 'the name of the file is too long',
    hint: 'give it a shorter name',
  },
  ENOTDIR: {
    code: 'bad-folder',
    message: (file) => `a part of ${file} is not a folder`,
    hint: 'remove or rename it',
  },
  EISDIR: {
    code: 'bad-folder',
    message: (file) => `${file} is a folder`,
    hint: 'there must be a file of that name',
  },
  ENOENT: {
    code: 'not-found',
    message: (file) => `${file} is missing`,
    hint: 'it may have been moved or removed just now: restore it, then start again',
  },
  EIO: BROKEN,
  ENXIO: BROKEN,
  ENODEV: BROKEN,
  ESTALE: BROKEN,
  EMFILE: NO_FILES,
  ENFILE: NO_FILES,
  EAGAIN: NO_MEMORY,
  ENOMEM: NO_MEMORY,
  ENOBUFS: NO_MEMORY,
};

/**
 * A system error with its cause, place and fix; undefined for anything else. `file`: what it is about, if the caller
 * knows better than the error.
 */
export function systemError(cause: unknown, file?: string): NightshiftError | undefined {
  const code = codeOf(cause);
  const refusal = Object.hasOwn(REFUSALS, code) ? REFUSALS[code] : undefined;
  if (cause instanceof NightshiftError || !refusal) return undefined;
  const { path, syscall } = cause as NodeJS.ErrnoException;
  if (syscall === 'uv_cwd') {
    return new NightshiftError('not-found', 'the current folder is gone', 'change to a folder that is there');
  }
  const place = file ?? path;
  const what = place ?? (syscall === undefined ? 'a file' : syscall);
  return new NightshiftError(
    refusal.code,
    refusal.message(what, code),
    refusal.hint,
    place === undefined ? {} : { file: place },
  );
}

function codeOf(error: unknown): string {
  const { code } = (error ?? {}) as { code?: unknown };
  return typeof code === 'string' ? code : '';
}
