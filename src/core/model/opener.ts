/** The agent program that opened a batch by hand. A batch that was opened in a terminal has none. */
export interface Opener {
  readonly program: string;
  /** Absent if the process is unknown. */
  readonly pid?: number;
  /** The start time of that process as the system reports it, because process ids are reused. */
  readonly started?: string;
  /** The conversation, if the program reports it. */
  readonly session?: string;
}

/** Who runs a command: an agent program or, without one, a person. */
export interface Caller {
  readonly opener?: Opener;
  /** The conversations of that program that are working now. */
  readonly busy: readonly string[];
}

/**
 * Whose batch it is, for the caller. `own`: the caller opened it. `left`: its opener has gone, because the process or
 * the conversation has ended. `theirs`: another conversation may be working on it.
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
