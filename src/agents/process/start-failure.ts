import { statSync } from 'node:fs';

/** The process could not be started. `fault`: whether another item could have been started. */
export interface StartFailure {
  readonly kind: 'not-started';
  readonly reason: string;
  readonly fault: 'item' | 'system';
}

interface Request {
  readonly file: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
}

/** MAX_ARG_STRLEN of Linux, 128 KiB, less the NUL at the end: for `NAME=value`, and for each argument. */
const LONGEST_STRING = 131_071;

/** What the system would refuse, as a message that names the culprit. */
export function whyUnstartable({ args, env }: Request): StartFailure | undefined {
  for (const [name, value] of Object.entries(env)) {
    if (value.includes('\0')) return itemsFault(`the environment variable ${name} would hold a NUL byte: remove it`);
    const bytes = Buffer.byteLength(name) + 1 + Buffer.byteLength(value);
    if (process.platform === 'linux' && bytes > LONGEST_STRING) {
      return itemsFault(
        `the environment variable ${name} is too large: ${bytes} bytes with its name, and Linux allows ${LONGEST_STRING}; ` +
          'put the long text into a file, and its path into the table',
      );
    }
  }
  for (const arg of args) {
    if (arg.includes('\0')) return itemsFault('the script or command line holds a NUL byte: remove it');
    const bytes = Buffer.byteLength(arg);
    if (process.platform === 'linux' && bytes > LONGEST_STRING) {
      return itemsFault(
        `the script or command line is too large: ${bytes} bytes, and Linux allows ${LONGEST_STRING}; put it into a file`,
      );
    }
  }
  return undefined;
}

export function whyNotStarted(error: NodeJS.ErrnoException, { file, cwd }: Request): StartFailure {
  switch (error.code) {
    case 'E2BIG':
      return itemsFault(
        'the environment and the arguments are too large together (getconf ARG_MAX says what is allowed): ' +
          'put long texts into files, and their paths into the table',
      );
    case 'EAGAIN':
    case 'ENOMEM':
      return systemsFault(
        `no room for another process (${error.code}): lower max-batch-size, or allow more (ulimit -u, memory)`,
      );
    case 'EMFILE':
    case 'ENFILE':
      return systemsFault(`too many open files (${error.code}): lower max-batch-size, or allow more (ulimit -n)`);
  }
  if (!isFolder(cwd)) return itemsFault(`the working folder ${cwd} does not exist; create it, or correct working-dir`);
  if (error.code === 'EACCES') return itemsFault(`no permission to enter the working folder ${cwd}`);
  return systemsFault(`${file} could not be started: ${error.message}`);
}

function itemsFault(reason: string): StartFailure {
  return { kind: 'not-started', reason, fault: 'item' };
}

function systemsFault(reason: string): StartFailure {
  return { kind: 'not-started', reason, fault: 'system' };
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}
