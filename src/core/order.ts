import { itemKey } from './identity.ts';
import type { Order } from './model.ts';
import { fillTask, type Shift, type Task, valuesOf } from './shift.ts';

export interface OrderDetails {
  readonly role: 'dev' | 'qa';
  readonly item: Order['item'];
  readonly token: string;
  readonly now: number;
  readonly key?: string;
  readonly lastFailure?: string | undefined;
  readonly checksPassed?: boolean;
}

/** Everything that is needed to do or judge one item-task, as plain JSON without the values of secrets. */
export function makeOrder(shift: Shift, task: Task, details: OrderDetails): Order {
  const { role, item, token, now, lastFailure, checksPassed } = details;
  return {
    role,
    shift: { name: shift.name, folder: shift.folder, table: shift.table, root: shift.root },
    task: task.name,
    version: task.version,
    item,
    token,
    key: details.key ?? itemKey(shift.identity, task.name, item.id),
    deadline: now + task.settings.timeoutMs,
    settings: task.settings,
    secretNames: Object.keys(shift.secrets),
    ...fillTask(task, valuesOf(shift, item.metadata)),
    ...(lastFailure === undefined ? {} : { lastFailure }),
    ...(checksPassed === undefined ? {} : { checksPassed }),
  };
}
