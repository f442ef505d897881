import { createRequire } from 'node:module';

/** Numbers of Linux; those of other systems differ. */
export const RLIMIT_NOFILE = 7;
/** Linux has not enforced this one since version 2.4. */
export const RLIMIT_LOCKS = 10;

type Prlimit = (pid: number, resource: number, limit: BigUint64Array | null, old: BigUint64Array | null) => number;

let loaded: { prlimit: Prlimit | undefined } | undefined;
const pair = new BigUint64Array(2);
const halves = new Int32Array(pair.buffer);

/** Undefined if there is none, or it can't be read: no such process, another user's, another system. */
export function hardLimit(pid: number, resource: number): bigint | undefined {
  if (load()?.(pid, resource, null, pair) !== 0) return undefined;
  // Called for every process: most have none, and a bigint costs more than the call.
  return (halves[2]! & halves[3]!) === -1 ? undefined : pair[1];
}

/** Sets the soft and hard limit of one of our processes and its future children. Returns whether it worked. */
export function setLimit(pid: number, resource: number, value: bigint): boolean {
  return load()?.(pid, resource, pair.fill(value), null) === 0;
}

function load(): Prlimit | undefined {
  loaded ??= { prlimit: process.platform === 'linux' ? tryLoad() : undefined };
  return loaded.prlimit;
}

function tryLoad(): Prlimit | undefined {
  const koffi = tryKoffi();
  // On 32-bit systems, glibc has the 64-bit version under another name.
  for (const name of ['prlimit64', 'prlimit']) {
    try {
      const declaration = `int ${name}(int pid, int resource, uint64_t *limit, uint64_t *old)`;
      return koffi?.load(null).func(declaration) as unknown as Prlimit;
    } catch {}
  }
  return undefined;
}

function tryKoffi(): typeof import('koffi') | undefined {
  try {
    return createRequire(import.meta.url)('koffi');
  } catch {
    return undefined;
  }
}
