/** A closed set of causes that scripts may rely on. */
export type ErrorCode =
  | 'usage'
  | 'bad-name'
  | 'bad-manager'
  | 'bad-table'
  | 'bad-task'
  | 'bad-env'
  | 'bad-lessons'
  | 'bad-placeholder'
  | 'bad-folder'
  | 'bad-transition'
  | 'inside-agent'
  | 'not-found'
  | 'nothing-to-do'
  | 'locked'
  | 'no-answer'
  | 'already-running'
  | 'agent-missing'
  | 'disk'
  | 'resources';

/** Exit codes that scripts may rely on; `docs/commands.md` and `--help` list them. */
export const EXIT = {
  done: 0,
  bug: 1,
  badInput: 2,
  failedItems: 3,
  stopped: 4,
  alreadyRunning: 5,
  agentMissing: 6,
  interrupted: 130,
} as const;

const EXIT_OF: Record<ErrorCode, number> = {
  usage: EXIT.badInput,
  'bad-name': EXIT.badInput,
  'bad-manager': EXIT.badInput,
  'bad-table': EXIT.badInput,
  'bad-task': EXIT.badInput,
  'bad-env': EXIT.badInput,
  'bad-lessons': EXIT.badInput,
  'bad-placeholder': EXIT.badInput,
  'bad-folder': EXIT.badInput,
  'bad-transition': EXIT.badInput,
  'inside-agent': EXIT.badInput,
  'not-found': EXIT.badInput,
  'nothing-to-do': EXIT.badInput,
  disk: EXIT.badInput,
  locked: EXIT.stopped,
  'no-answer': EXIT.stopped,
  resources: EXIT.stopped,
  'already-running': EXIT.alreadyRunning,
  'agent-missing': EXIT.agentMissing,
};

const MOST_NOTICES = 3;

export interface Place {
  readonly file?: string;
  /** 1-based, as in editors. */
  readonly line?: number;
  /** The placeholder that can't be filled in. */
  readonly placeholder?: string;
}

/** Wrong input or environment: cause, place and fix. Anything else that is thrown is a bug. */
export class NightshiftError extends Error {
  override readonly name = 'NightshiftError';
  readonly code: ErrorCode;
  readonly hint: string | undefined;
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly placeholder: string | undefined;

  constructor(code: ErrorCode, message: string, hint?: string, place: Place = {}) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.file = place.file;
    this.line = place.line;
    this.placeholder = place.placeholder;
  }

  get exitCode(): number {
    return EXIT_OF[this.code];
  }

  /** The same error, with warnings that may be its cause. */
  noting(warnings: readonly string[]): NightshiftError {
    if (warnings.length === 0) return this;
    const noticed = `also: ${warnings.slice(0, MOST_NOTICES).join('; ')}`;
    return new NightshiftError(this.code, this.message, this.hint ? `${this.hint}; ${noticed}` : noticed, {
      ...(this.file === undefined ? {} : { file: this.file }),
      ...(this.line === undefined ? {} : { line: this.line }),
    });
  }
}

/** How an error ends a run: its code and exit code, and one line with the cause, the place and the fix. */
export function endByError(error: unknown): { exitCode: number; reason: string; error: ErrorCode | 'bug' } {
  if (!(error instanceof NightshiftError)) {
    const message = error instanceof Error ? error.message : String(error);
    const reason = inOneLine(`a bug in Nightshift (${message}); nothing that was recorded is lost`);
    return { exitCode: EXIT.bug, reason, error: 'bug' };
  }
  const { exitCode, hint, code } = error;
  const reason = [placedMessage(error), hint].filter((part) => part !== undefined).join('; ');
  return { exitCode, reason: inOneLine(reason), error: code };
}

/** The message, with the place if it does not name it. */
export function placedMessage({ message, file, line }: NightshiftError): string {
  const place = line === undefined ? file : `${file} line ${line}`;
  return place === undefined || message.includes(place) ? message : `${message} (${place})`;
}

function inOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}
