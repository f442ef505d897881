import { createHash, randomBytes } from 'node:crypto';
import { hardLimit, RLIMIT_LOCKS, setLimit } from './rlimit.ts';

/**
 * A number in the limits of a process, which all that it starts inherits: through setsid, a double fork, another program,
 * and with an emptied environment. It tells the processes of one attempt from those of another, whoever their parent is
 * by now. It stands in a limit that Linux does not enforce. Linux only.
 */
export type Tag = bigint;

const OURS = 1n << 62n;
const SHIFT_BITS = 29n;
const LAUNCH_BITS = 32n;

/** For a process that has not begun yet. Undefined where that is not possible. */
export function tagProcess(pid: number, env: Readonly<Record<string, string>>): Tag | undefined {
  const tag = newTag(env);
  return setLimit(pid, RLIMIT_LOCKS, tag) ? tag : undefined;
}

/** Whoever else starts processes on this machine begins to count elsewhere. */
let launches = randomBytes(4).readUInt32LE();
let inherited: { limit: bigint | undefined } | undefined;

function newTag({ NIGHTSHIFT_SHIFT_DIR: shiftFolder = '' }: Record<string, string>): Tag {
  launches = (launches + 1) >>> 0;
  inherited ??= { limit: tagOf(process.pid) };
  // Nightshift below Nightshift: a limit can only be made lower.
  if (inherited.limit !== undefined) return inherited.limit - 1n - BigInt(launches % 2 ** 30);
  return (shiftTag(shiftFolder) << LAUNCH_BITS) | BigInt(launches);
}

const hashes = new Map<string, bigint>();

/** What the tags of a shift have in common. */
function shiftTag(shiftFolder: string): bigint {
  const known = hashes.get(shiftFolder);
  const hash = known ?? createHash('sha256').update(shiftFolder).digest().readBigUInt64LE() & ((1n << SHIFT_BITS) - 1n);
  if (known === undefined) hashes.set(shiftFolder, hash);
  return (OURS >> LAUNCH_BITS) | hash;
}

/** Undefined: it has none, or can't be asked. */
export function tagOf(pid: number): Tag | undefined {
  return hardLimit(pid, RLIMIT_LOCKS);
}

/** Whether it is a tag of an item of this shift, whichever. */
export function isOfShift(tag: Tag, shiftFolder: string): boolean {
  return tag >> LAUNCH_BITS === shiftTag(shiftFolder);
}

/** Whether a process has a tag of any shift. `limits`: its `/proc/PID/limits`, which needs no library to be read. */
export function hasTagIn(limits: string): boolean {
  const hard = /^Max file locks\s+\S+\s+(\d+)/m.exec(limits)?.[1];
  return hard !== undefined && BigInt(hard) >= OURS;
}
