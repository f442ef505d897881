import type { Order } from '../../core/model/model.ts';
import { makeOrder } from '../../core/model/order.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import { cellsAt } from '../../core/schedule/plan.ts';
import type { Claim, Snapshot } from '../../store/store.ts';
import type { RunContext } from '../context.ts';
import { leaseTerms } from '../lease-terms.ts';
import type { RunningItem } from './dispatch.ts';

/**
 * Takes over the items whose orders outlived the coordinator: their workers have not noticed that it was gone. The
 * table decides, not the order: `in_progress` waits for a dev, `qa` for a qa. All other orders are ended, and so are
 * those whose settings or criteria have changed since (rule D5).
 */
export async function adoptItems(context: RunContext): Promise<RunningItem[]> {
  const { store, ports, shift } = context;
  const { fleet } = ports;
  if (!fleet) return [];
  const orders = new Map(fleet.surviving().map((order) => [nameOf(order.task, order.item.id, order.role), order]));
  if (orders.size === 0) return [];
  const snapshot = await store.snapshot();
  const adopted: RunningItem[] = [];
  for (const [status, role] of [
    ['in_progress', 'dev'],
    ['qa', 'qa'],
  ] as const) {
    for (const { row, task: name } of cellsAt(snapshot, status)) {
      const id = snapshot.id(row);
      const order = orders.get(nameOf(name, id, role));
      const task = shift.tasks.find((each) => each.name === name);
      if (!order || !task || !isSame(order, orderNow(shift, task, { order, snapshot, row }))) continue;
      const claim = await store.adopt({ id, task: name }, leaseTerms(ports));
      if (!claim) continue;
      orders.delete(nameOf(name, id, role));
      adopted.push(runningItem(context, claim, { order, task, snapshot }));
    }
  }
  await Promise.all([...orders.values()].map((order) => fleet.dismiss(order)));
  return adopted;
}

interface Found {
  readonly order: Order;
  readonly snapshot: Snapshot;
}

function runningItem(
  { labels, ports, shift }: RunContext,
  claim: Claim,
  { order, task, snapshot }: Found & { readonly task: Task },
): RunningItem {
  const label = labels.of(shift, snapshot, claim.row);
  ports.running.begin({ ...claim, label });
  const { verdict, ...used } = order.retry ?? {};
  return {
    ...{ claim, shift, task, label, metadata: snapshot.metadata(claim.row) },
    ...(order.retry && { used: { ...used, qaRetries: order.retry.qaRetries } as RunningItem['used'] & object }),
    ...(verdict !== undefined && { verdict }),
  };
}

/** The order as it would be sent now. */
function orderNow(shift: Shift, task: Task, { order, snapshot, row }: Found & { readonly row: number }): Order {
  const { role, token } = order;
  const item = { id: snapshot.id(row), index: row, metadata: snapshot.metadata(row) };
  return makeOrder(shift, task, { role, token, item });
}

/** Steps may have changed: lessons count from the next claim. Lines move with the Steps. */
function isSame(before: Order, now: Order): boolean {
  const compared = ({ settings, template, workspace, secretNames }: Order) =>
    JSON.stringify(
      [settings, template.criteria, template.workingDir, workspace, [...secretNames].sort()],
      (key, value) => (key === 'line' ? undefined : value),
    );
  return compared(before) === compared(now);
}

function nameOf(task: string, id: string, role: string): string {
  return JSON.stringify([task, id, role]);
}
