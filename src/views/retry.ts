import { count } from '../core/text/count.ts';
import { rowName, shortReason } from './row-name.ts';

interface FailedItemTask {
  readonly row: number;
  readonly label: string | undefined;
  readonly task: string;
  readonly reason: string;
}

interface Found {
  readonly failures: readonly FailedItemTask[];
  /** Rows of the same retry that was interrupted. */
  readonly left: number;
  /** Item-tasks that `--all` would run besides. */
  readonly others: number;
}

/** What a retry would do. */
export function retryPlanLines({ failures, left, others }: Found): string[] {
  const reset = `${count(failures.length, 'item-task')} would be reset to todo.`;
  const interrupted = left === 0 ? '' : ` ${count(left, 'row')} of the retry that was interrupted would be continued.`;
  const besides = others === 0 ? '' : ` With --all, ${count(others, 'other item-task')} would be run too.`;
  return [
    ...failures.map((each) => `${rowName(each)}: ${each.task}: ${shortReason(each.reason) || 'no reason recorded'}`),
    `${reset}${interrupted}${besides} Nothing was written, no agent was started.`,
  ];
}

/** `others`: item-tasks that could start. */
export function nothingFailedLine(shift: string, others: number): string {
  const more = others === 0 ? '' : ` \`nightshift start ${shift}\` does the ${count(others, 'item-task')} left.`;
  return `Nothing has failed.${more}`;
}
