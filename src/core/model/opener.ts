/** The agent program that a batch was opened from, by hand. A batch that was opened in a terminal has none. */
export interface Opener {
  readonly program: string;
  /** Absent: the program is known, its process is not. */
  readonly pid?: number;
  /** When that process was started, in the words of the system: process ids are used again. */
  readonly started?: string;
  /** The conversation, if the program tells. */
  readonly session?: string;
}

/** Who runs a command: an agent program or, without one, a person. */
export interface Caller {
  readonly opener?: Opener;
  /** The conversations of that program that are at work now. */
  readonly busy: readonly string[];
}

/**
 * Whose batch it is, as the caller sees it. `own`: the caller opened it. `left`: whoever opened it works on it no more,
 * because its process is gone or its conversation has ended. `theirs`: somebody else may be working on it.
 */
export type Standing = 'own' | 'left' | 'theirs';

export function standingOf(
  opener: Opener | undefined,
  { opener: caller, busy }: Caller,
  isAlive: (opener: Opener) => boolean,
): Standing {
  if (!opener) return caller ? 'theirs' : 'own';
  if (!isAlive(opener)) return 'left';
  if (!caller || caller.pid === undefined || caller.pid !== opener.pid) return 'theirs';
  if (caller.session === opener.session) return 'own';
  return opener.session !== undefined && !busy.includes(opener.session) ? 'left' : 'theirs';
}
