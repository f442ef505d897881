import { engineOutputs } from '../../core/workspace/outputs.ts';
import type { DeliveryResult } from '../../core/workspace/workspaces.ts';
import type { RowDelivery } from '../worker/deliver.ts';
import { type Dispatch, orderOf, type RunningItem, type WorkEnd, whileClaimed } from './dispatch.ts';

/** How a row was delivered, and the columns that its last task fills with it. */
export type RowDelivered = Pick<WorkEnd, 'withdrawn' | 'isInterrupted'> & {
  readonly result: DeliveryResult;
  readonly outputs: Readonly<Record<string, string>>;
};

/** Whether the row is delivered after this task: it has a workspace, and no later task works in it. */
export function isDelivered(item: RunningItem): boolean {
  return orderOf(item, { role: 'qa' }).isLastInWorkspace === true;
}

/**
 * Delivers the result of a row whose task has passed, while it is at `qa`: `done` means delivered. Undefined if there
 * is nothing to deliver, or a later task still works in the workspace.
 */
export async function deliverRow(dispatch: Dispatch, item: RunningItem): Promise<RowDelivered | undefined> {
  const { task, shift } = item;
  const last = orderOf(item, { role: 'qa', checksPassed: true });
  if (last.workspace === undefined || !last.isLastInWorkspace) return undefined;
  const earlier = shift.tasks.filter(({ hasWorkspace, name }) => hasWorkspace && name !== task.name);
  const { kind, when, most } = last.workspace.delivery;
  const { context } = dispatch;
  const isHeld = when === 'approved' || (kind !== 'none' && !context.deliveries.take(most));
  const row: RowDelivery = {
    last,
    earlier: earlier.map((each) => orderOf(item, { role: 'qa', checksPassed: true }, each)),
    isHeld,
  };
  const end = await whileClaimed(dispatch, item, last.key, (signal) =>
    context.work.deliver(row, shift.secrets, signal),
  );
  const { result } = end;
  if (result.kind !== 'delivered') {
    if (!isHeld && kind !== 'none') context.deliveries.giveBack();
    return { ...end, outputs: {} };
  }
  const filled = engineOutputs(task.settings, last.workspace);
  return { ...end, outputs: Object.fromEntries(filled.map((name) => [name, result.values[name]])) };
}
