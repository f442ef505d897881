import { resolveText } from '../../core/language/template.ts';
import type { LocalOrder, Order, Text } from '../../core/model/model.ts';
import { localOrder } from '../../core/model/order.ts';
import { mergedBranch } from '../../core/workspace/branch-name.ts';
import { deliveryTexts } from '../../core/workspace/delivery-texts.ts';
import type { DeliveryFailure, DeliveryResult } from '../../core/workspace/workspaces.ts';
import { enterPlace } from './place.ts';
import { describeFailures, runChecks } from './run-checks.ts';
import type { Work } from './work.ts';
import { resolveScript } from './worker-ports.ts';

/** A row whose last verdict has passed: its result is delivered. Plain JSON, like an order. */
export interface RowDelivery {
  /** The qa's order of its last task with the workspace. */
  readonly last: Order;
  /** Those of the tasks before: their checks run again after a merge, too. */
  readonly earlier: readonly Order[];
  /** It waits for `nightshift deliver`. */
  readonly isHeld: boolean;
}

export async function performDelivery(work: Work, row: RowDelivery): Promise<DeliveryResult> {
  const { order, site, signal } = work;
  const { item, shift, key } = order;
  const place = await enterPlace(work);
  if (place.kind !== 'placed') return place;
  using _entered = place;
  const started = site.clock.elapsed();
  const { kind, prCommand, ...texts } = order.workspace!.delivery;
  const resolve = (text: Text | undefined) => text && resolveText(text, site.secrets);
  const { into, author } = texts;
  const result = await site.workspaces!.deliver({
    ...{ id: item.id, key, kind, signal, isHeld: row.isHeld },
    ...deliveryTexts(
      { message: resolve(texts.message), title: resolve(texts.title), body: resolve(texts.body) },
      { shift: shift.name, row: item.index + 1, label: item.label },
    ),
    ...(into && { into: resolve(into)! }),
    ...(author && { author: resolve(author)! }),
    ...(prCommand && { prCommand: resolveScript(prCommand, site.secrets) }),
    check: () => checkAgain(place.work, row.earlier),
  });
  const merged = kind === 'merge' ? { into: resolve(into) ?? mergedBranch(shift.name) } : {};
  const ms = Math.round(site.clock.elapsed() - started);
  tell(work, { kind, isHeld: row.isHeld, ms, ...merged }, result);
  return result;
}

const NO_VALUES = { branch: '', commit: '', pr_url: '', pr_state: '' };

function tell(
  work: Work,
  { isHeld, ...done }: { kind: string; isHeld: boolean; ms: number; into?: string },
  result: DeliveryResult,
): void {
  if (result.kind === 'aborted') return;
  const { task, item } = work.order;
  const { branch, commit, pr_url: url } = result.kind === 'delivered' ? result.values : NO_VALUES;
  const { reason } = result.kind === 'trouble' ? result.trouble : result.kind === 'failed' ? result : {};
  work.emit({
    type: 'delivery:finished',
    ...{ task, index: item.index, item: item.id, ...done },
    ...(isHeld && { isHeld }),
    ...(branch && { branch }),
    ...(commit && { commit }),
    ...(url && { url }),
    ...(result.kind === 'delivered' && result.note !== undefined && { note: result.note }),
    ...(reason !== undefined && { reason }),
    ...(result.kind === 'failed' && { failurePoint: result.failurePoint }),
  });
}

/** After a merge, every check of the row must still pass. Returns why one does not. */
export async function checkAgain(work: Work, earlier: readonly Order[]): Promise<DeliveryFailure | undefined> {
  const orders: LocalOrder[] = [...earlier.map((order) => localOrder(order, work.site.place)), work.order];
  for (const order of orders) {
    const checked = await runChecks({ ...work, order }, 1);
    if (checked.kind !== 'checked') return checked;
    const reason = describeFailures(checked.verdicts);
    if (reason !== '') return { kind: 'failed', reason, failurePoint: 'delivery' };
  }
  return undefined;
}
