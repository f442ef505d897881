import { basename } from 'node:path';
import type { Clock } from '../core/model/clock.ts';
import { formatDuration } from '../core/model/duration.ts';
import { type ErrorCode, NightshiftError } from '../core/model/errors.ts';
import type { Emit } from '../core/model/events.ts';
import type { Restoration } from '../store/store.ts';
import type { Stop } from './ports.ts';

/** Errors that you can fix by editing a file. Not `disk`: a run that can't write must not continue. */
const CURABLE: readonly ErrorCode[] = [
  'bad-manager',
  'bad-table',
  'bad-task',
  'bad-env',
  'bad-lessons',
  'bad-placeholder',
  'bad-name',
  'bad-folder',
  'not-found',
  'agent-missing',
  'locked',
];
/** After this time the file is not just half written: you have to fix it. */
const SETTLE_MS = 1000;
/** For a run that has to stop: long enough to save a file, short enough to wait for. */
const STOPPING_MS = 5000;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 1000;

export interface FilePatienceOptions {
  readonly emit: Emit;
  readonly stop: Stop;
  /** How long a file may stay unreadable before the run ends. */
  patienceMs(): number;
  /** Whether the shift's folder still exists; if not, there is nothing to wait for. */
  isThere(): Promise<boolean>;
  readonly clock: Clock;
}

interface WaitOptions {
  /** The result of an item: worth waiting for even if the run has to stop. */
  readonly isResult?: boolean;
  /** When patience ends: makes the file readable, so that results can still be recorded. */
  readonly restore?: () => Promise<Restoration | undefined>;
}

interface Problem {
  since: number;
  message: string;
  messageSince: number;
  told: string | undefined;
}

/**
 * Rule F6: an unreadable table, manifest or task file does not stop running items. Code that needs the file waits
 * here until it can be read. If that takes longer than `patience`, and no agent is working, the error ends the run.
 */
export class FilePatience {
  readonly #options: FilePatienceOptions;
  readonly #problems = new Map<string, Problem>();
  /** Files that `inPassing` could not read. */
  readonly #noticed = new Set<string>();
  #atWork = 0;
  /** The error that ended the patience: from then on the run only records results. */
  #end: NightshiftError | undefined;

  constructor(options: FilePatienceOptions) {
    this.#options = options;
  }

  /** While an agent works, nothing gives up: its result would be lost. */
  async whileAtWork<T>(work: () => Promise<T>): Promise<T> {
    this.#atWork++;
    try {
      return await work();
    } finally {
      this.#atWork--;
    }
  }

  /** Returns the result of `read` once its file can be read. */
  async until<T>(read: () => Promise<T>, options: WaitOptions = {}): Promise<T> {
    if (this.#end && options.isResult !== true) throw this.#end;
    const met = new Set<string>();
    for (let pause = FIRST_PAUSE_MS; ; pause = Math.min(pause * 1.5, LONGEST_PAUSE_MS)) {
      try {
        const answer = await read();
        for (const file of met) this.#readable(file);
        return answer;
      } catch (error) {
        if (!isCurable(error)) throw error;
        met.add(this.#unreadable(error));
        if ((await this.#isInVain(error, options)) && !(await this.#restored(error, options))) throw error;
      }
      await this.#options.clock.sleep(pause);
    }
  }

  /** For callers that must not wait: an unreadable file is reported, and read later. */
  async inPassing<T>(read: () => Promise<T>, nothing: T): Promise<T> {
    try {
      const answer = await read();
      for (const file of this.#noticed) this.#readable(file);
      this.#noticed.clear();
      return answer;
    } catch (error) {
      if (!isCurable(error)) throw error;
      this.#noticed.add(this.#unreadable(error));
      return nothing;
    }
  }

  /** Rule F6: results are recorded even if the file was never fixed. The run ends anyway. */
  async #restored(error: NightshiftError, { restore }: WaitOptions): Promise<boolean> {
    if (!restore || error.code === 'locked' || this.#options.stop.now.aborted) return false;
    if (!(await this.#options.isThere())) return false;
    const restored = await restore();
    if (!restored) return true;
    this.#end ??= afterRestore(error, restored);
    this.#problems.delete(fileOf(error));
    return true;
  }

  async #isInVain(error: NightshiftError, { isResult = false }: WaitOptions): Promise<boolean> {
    if (this.#atWork > 0) return false;
    const { drain, now } = this.#options.stop;
    if (now.aborted || (drain.aborted && !isResult)) return true;
    const { since } = this.#problems.get(fileOf(error))!;
    const patienceMs = this.#options.patienceMs();
    const most = drain.aborted ? Math.min(patienceMs, STOPPING_MS) : patienceMs;
    return this.#options.clock.elapsed() - since >= most || !(await this.#options.isThere());
  }

  #unreadable(error: NightshiftError): string {
    const file = fileOf(error);
    const now = this.#options.clock.elapsed();
    const problem = this.#problems.get(file) ?? { since: now, message: '', messageSince: now, told: undefined };
    this.#problems.set(file, problem);
    if (problem.message !== error.message) Object.assign(problem, { message: error.message, messageSince: now });
    if (problem.told !== error.message && now - problem.messageSince >= SETTLE_MS) {
      problem.told = error.message;
      this.#warnOf(error);
    }
    return file;
  }

  #readable(file: string): void {
    const problem = this.#problems.get(file);
    this.#problems.delete(file);
    if (problem?.told === undefined) return;
    this.#options.emit({ type: 'run:warning', message: `${file} can be read again: the run continues` });
  }

  #warnOf({ message, hint, file, line }: NightshiftError): void {
    const place = file === undefined ? '' : ` (${basename(file)}${line === undefined ? '' : `:${line}`})`;
    const advice = hint === undefined ? '' : `; ${hint}`;
    const patience = formatDuration(this.#options.patienceMs());
    const end = `nothing new is started until this is corrected; after ${patience} the run ends`;
    this.#options.emit({ type: 'run:warning', message: `${message}${place}${advice}; ${end}` });
  }
}

/** Says where the unreadable file is now, and what replaced it. */
function afterRestore({ code, message, hint, file, line }: NightshiftError, { kept }: Restoration): NightshiftError {
  const name = file === undefined ? 'the file' : basename(file);
  const done = `${name} was restored to its last readable version, with the results of this run`;
  const at = kept ?? file;
  const place = { ...(at === undefined ? {} : { file: at }), ...(line === undefined ? {} : { line }) };
  return new NightshiftError(code, message, hint === undefined ? done : `${hint}; ${done}`, place);
}

export function isCurable(error: unknown): error is NightshiftError {
  if (!(error instanceof NightshiftError) || !CURABLE.includes(error.code)) return false;
  // Without a file, the error is about a name that you gave: no edit fixes it.
  return error.code !== 'not-found' || error.file !== undefined;
}

function fileOf({ file }: NightshiftError): string {
  return file === undefined ? 'the shift' : basename(file);
}
