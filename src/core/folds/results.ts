import type { Usage } from '../model/model.ts';
import type { Status } from '../model/status.ts';
import { statusAt } from '../schedule/plan.ts';
import type { History } from './history.ts';
import { workerOf } from './item-worker.ts';
import type { Items } from './summary.ts';

/** The result of one item-task, from the table and the journal: the content of an export. */
export interface Result {
  /** 1-based. */
  readonly row: number;
  readonly item: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly task: string;
  readonly status: Status;
  /** Why it failed; only if it is `failed` now. */
  readonly reason?: string;
  readonly attempts: number;
  readonly captured: Readonly<Record<string, string>>;
  readonly usage: Usage;
  /** Of the dev, for all its attempts. */
  readonly ms?: number;
  /** When its dev or qa last ended. */
  readonly at?: string;
  /** Where its latest session ran, in a fleet. */
  readonly worker?: string;
}

/** Row by row, with tasks in Task Order. */
export function* resultsOf(items: Items, history: History): Generator<Result> {
  for (const results of resultsByRow(items, history)) yield* results;
}

/** One list for each row, with tasks in Task Order. */
export function* resultsByRow(items: Items, history: History): Generator<Result[]> {
  for (let row = 0; row < items.count; row++) {
    const common = { row: row + 1, item: items.id(row), metadata: items.metadata(row) };
    yield items.tasks.map((task, index): Result => {
      const past = history.of(task, common.item);
      const status = statusAt(items, row, index);
      const at = past?.qa?.at ?? past?.dev?.at;
      const worker = workerOf(past);
      return {
        ...common,
        task,
        status,
        ...(status === 'failed' && past?.failure !== undefined ? { reason: past.failure } : {}),
        attempts: past?.dev?.attempts ?? past?.attempts ?? 0,
        captured: past?.captured ?? {},
        usage: past?.usage ?? {},
        ...(past?.dev === undefined ? {} : { ms: past.dev.ms }),
        ...(at === undefined ? {} : { at }),
        ...(worker === undefined ? {} : { worker }),
      };
    });
  }
}
