import { votesIn } from '../core/learning/votes.ts';
import type { ReportedVote } from '../core/model/events.ts';
import type { LocalOrder } from '../core/model/model.ts';
import { devOutputs } from '../core/workspace/outputs.ts';
import { verify } from './worker/verify.ts';
import { withWork } from './worker/worker.ts';
import type { Call, EquippedSite } from './worker/worker-ports.ts';

/** The report of a dev that the engine did not start. */
export type DevStatement =
  | {
      readonly to: 'qa';
      readonly captured: Readonly<Record<string, string>>;
      readonly recommendations: readonly string[];
      readonly votes?: readonly ReportedVote[];
    }
  | { readonly to: 'failed'; readonly reason: string; readonly votes?: readonly ReportedVote[] };

/** `to` absent: the item continues, and `reason` says why. `isAttempt`: it was a failed attempt. */
export interface DevVerdict {
  readonly to?: 'qa' | 'failed';
  readonly reason?: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly isAttempt: boolean;
}

/**
 * A dev that works elsewhere (inside OpenCode, or a person) says that it is finished. As for any dev, declared
 * outputs must be there, and the checks run (rule X2). The engine counts attempts (rule D3), including those that the
 * dev itself calls failed.
 */
export async function hearDev(
  site: EquippedSite,
  order: LocalOrder,
  {
    said,
    number,
    since,
    now,
  }: { readonly said: DevStatement; readonly number: number; readonly since: number; readonly now: number },
  call: Call,
): Promise<DevVerdict> {
  const verdict = await withWork(site, order, call, async (work): Promise<DevVerdict> => {
    const subject = { task: order.task, index: order.item.index, item: order.item.id };
    const last =
      said.to === 'qa'
        ? await verify(work, said, { number, onVerdicts: () => {} })
        : { kind: 'failed' as const, status: 'FAILED', reason: said.reason, final: false };
    if (last.kind === 'aborted') return { reason: 'stopped', outputs: {}, isAttempt: false };
    if (last.kind === 'trouble') return { reason: last.trouble.reason, outputs: {}, isAttempt: false };
    const isDone = last.kind === 'succeeded';
    const status = isDone ? 'SUCCESS' : last.status;
    const reason = isDone ? {} : { reason: last.reason };
    const votes = votesIn(order, { status, ...reason, votes: said.votes ?? [] });
    const told = { ...reason, ...(votes.length > 0 && { votes }) };
    work.emit({ type: 'attempt:finished', ...subject, attempt: number, status, ...told });
    if (!isDone && !last.final && number < order.settings.attempts) return { ...reason, outputs: {}, isAttempt: true };
    work.emit({
      type: 'dev:finished',
      ...subject,
      status,
      attempts: number,
      ms: now - since,
      key: order.key,
      ...reason,
      captured: isDone ? last.captured : {},
      recommendations: said.to === 'qa' && isDone ? [...said.recommendations] : [],
      compacted: false,
      agent: 'by hand',
    });
    if (!isDone) return { to: 'failed', ...reason, outputs: {}, isAttempt: true };
    const outputs = devOutputs(order).map((name) => [name, last.captured[name]!]);
    return { to: 'qa', outputs: Object.fromEntries(outputs), isAttempt: false };
  });
  return typeof verdict === 'string' ? { reason: verdict, outputs: {}, isAttempt: false } : verdict;
}
