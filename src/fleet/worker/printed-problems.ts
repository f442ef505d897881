import { problemsOfWorker } from '../admin.ts';
import type { WorkerOptions } from './worker-options.ts';

/** Why this worker gets no orders, each reason once. `fleet status` has them, too, but you look here first. */
export class PrintedProblems {
  readonly #options: Pick<WorkerOptions, 'database' | 'id' | 'tell'>;
  /** Those that still last. */
  #printed: ReadonlySet<string> = new Set();

  constructor(options: Pick<WorkerOptions, 'database' | 'id' | 'tell'>) {
    this.#options = options;
  }

  async look(): Promise<void> {
    const { database, id, tell } = this.#options;
    const problems = await problemsOfWorker(database, id);
    for (const problem of problems) if (!this.#printed.has(problem)) tell(`gets no orders: ${problem}`);
    this.#printed = new Set(problems);
  }
}
