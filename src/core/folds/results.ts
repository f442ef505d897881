import type { Usage } from '../model/model.ts';
import type { Status } from '../model/status.ts';
import { statusAt } from '../schedule/plan.ts';
import type { History } from './history.ts';
import type { Items } from './summary.ts';

/** What became of one item-task, as the table and the journal say: what an export holds. */
export interface Result {
  /** 1-based, as people count. */
  readonly row: number;
  readonly item: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly task: string;
  readonly status: Status;
  /** Why it failed; only for what is `failed` now. */
  readonly reason?: string;
  readonly attempts: number;
  readonly captured: Readonly<Record<string, string>>;
  readonly usage: Usage;
  /** Of the dev with all its attempts. */
  readonly ms?: number;
  /** When its dev or its qa ended last. */
  readonly at?: string;
}

/** Row by row, each with its tasks in Task Order. */
export function* resultsOf(items: Items, history: History): Generator<Result> {
  for (let row = 0; row < items.count; row++) {
    const item = items.id(row);
    const metadata = items.metadata(row);
    for (const [index, task] of items.tasks.entries()) {
      const past = history.of(task, item);
      const status = statusAt(items, row, index);
      const at = past?.qa?.at ?? past?.dev?.at;
      yield {
        row: row + 1,
        item,
        metadata,
        task,
        status,
        ...(status === 'failed' && past?.failure !== undefined ? { reason: past.failure } : {}),
        attempts: past?.dev?.attempts ?? past?.attempts ?? 0,
        captured: past?.captured ?? {},
        usage: past?.usage ?? {},
        ...(past?.dev === undefined ? {} : { ms: past.dev.ms }),
        ...(at === undefined ? {} : { at }),
      };
    }
  }
}
