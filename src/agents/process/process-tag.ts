import { createHash, randomBytes } from 'node:crypto';
import { hardLimit, RLIMIT_LOCKS, setLimit } from './rlimit.ts';

/**
 * A number in the limits of a process, which all its descendants inherit: through setsid, a double fork, another
 * program, and with an empty environment. It distinguishes the processes of one attempt from those of another,
 * whatever their parent. It is in a limit that Linux does not enforce. Linux only.
 */
export type Tag = bigint;

const OURS = 1n << 62n;
const SHIFT_BITS = 29n;
const LAUNCH_BITS = 32n;

/** Sets the tag of a process that has not begun yet. Undefined if that is not possible. */
export function tagProcess(pid: number, env: Readonly<Record<string, string>>): Tag | undefined {
  const tag = newTag(env);
  return setLimit(pid, RLIMIT_LOCKS, tag) ? tag : undefined;
}

/** Other Nightshift processes on this machine start counting elsewhere. */
let launches = randomBytes(4).readUInt32LE();
let inherited: { limit: bigint | undefined } | undefined;

/** What the processes of a shift on this machine have in common, in the environment of each. */
export function markIn(env: Readonly<Record<string, string | undefined>>): string | undefined {
  // Workers of a fleet on one machine may share the shift's folder, and each ends only its own processes.
  return env.NIGHTSHIFT_WORKER_DIR ?? env.NIGHTSHIFT_SHIFT_DIR;
}

function newTag(env: Readonly<Record<string, string>>): Tag {
  launches = (launches + 1) >>> 0;
  inherited ??= { limit: tagOf(process.pid) };
  // Nightshift inside Nightshift: a limit can only be lowered.
  if (inherited.limit !== undefined) return inherited.limit - 1n - BigInt(launches % 2 ** 30);
  return (shiftTag(markIn(env) ?? '') << LAUNCH_BITS) | BigInt(launches);
}

const hashes = new Map<string, bigint>();

/** The common part of the tags of a shift. */
function shiftTag(shiftFolder: string): bigint {
  const known = hashes.get(shiftFolder);
  const hash = known ?? createHash('sha256').update(shiftFolder).digest().readBigUInt64LE() & ((1n << SHIFT_BITS) - 1n);
  if (known === undefined) hashes.set(shiftFolder, hash);
  return (OURS >> LAUNCH_BITS) | hash;
}

/** Undefined if it has none, or can't be read. */
export function tagOf(pid: number): Tag | undefined {
  return hardLimit(pid, RLIMIT_LOCKS);
}

/** Whether it is the tag of any item of this shift. */
export function isOfShift(tag: Tag, shiftFolder: string): boolean {
  return tag >> LAUNCH_BITS === shiftTag(shiftFolder);
}

/** Whether a process has a tag of any shift. `limits`: its `/proc/PID/limits`, which needs no library to read. */
export function hasTagIn(limits: string): boolean {
  const hard = /^Max file locks\s+\S+\s+(\d+)/m.exec(limits)?.[1];
  return hard !== undefined && BigInt(hard) >= OURS;
}
