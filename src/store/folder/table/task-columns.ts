import { isDeepStrictEqual } from 'node:util';
import { NightshiftError } from '../../../core/model/errors.ts';
import type { Table } from '../../../formats/table.ts';
import { statusColumns } from './draft.ts';

type OutputsByTask = ReadonlyMap<string, readonly string[]>;

/**
 * Which columns hold statuses: those of the Task Order, then those of tasks that left it while items of theirs were
 * running. Such a task takes no new items, but what its items did still counts.
 */
export class TaskColumns {
  /** As declared last. */
  readonly taskOrder: readonly string[];
  readonly #declared: OutputsByTask;
  /** The Task Order, then the tasks that left it. */
  readonly all: readonly string[];
  /** The columns that each task fills. */
  readonly outputs: OutputsByTask;

  /** `left`: what each task that left the Task Order fills. */
  constructor(taskOrder: readonly string[], outputs: OutputsByTask, left: OutputsByTask = new Map()) {
    this.taskOrder = taskOrder;
    this.#declared = outputs;
    this.all = [...taskOrder, ...left.keys()];
    this.outputs = new Map([...left, ...outputs]);
  }

  isDeclared(taskOrder: readonly string[], outputs: OutputsByTask): boolean {
    return isDeepStrictEqual([taskOrder, outputs], [this.taskOrder, this.#declared]);
  }

  /** Another Task Order. `running`: the tasks that have running items. */
  declare(taskOrder: readonly string[], outputs: OutputsByTask, running: Iterable<string>): TaskColumns {
    const left = [...new Set(running)].filter((task) => !taskOrder.includes(task));
    return new TaskColumns(taskOrder, outputs, this.#outputsOf(left));
  }

  /** Without the tasks that left the Task Order and whose column is gone. */
  in(table: Table): TaskColumns {
    const left = this.all.slice(this.taskOrder.length);
    const there = left.filter((task) => table.columnOf(task) >= 0);
    if (there.length === left.length) return this;
    return new TaskColumns(this.taskOrder, this.#declared, this.#outputsOf(there));
  }

  #outputsOf(tasks: readonly string[]): OutputsByTask {
    return new Map(tasks.map((task) => [task, this.outputs.get(task) ?? []]));
  }

  /** Where the column of a task of the Task Order is among the status columns. */
  require(task: string): number {
    const index = this.taskOrder.indexOf(task);
    if (index < 0) throw new NightshiftError('not-found', `${task} is not in the Task Order any more`);
    return index;
  }

  /** The statuses in a table. Throws if a column is missing. */
  read(table: Table, file: string): Uint8Array[] {
    return statusColumns(table, this.all, file);
  }

  /** Columns that hold no metadata. */
  get names(): ReadonlySet<string> {
    return new Set([...this.all, ...[...this.outputs.values()].flat()]);
  }
}
