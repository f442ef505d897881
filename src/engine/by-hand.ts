import type { Emit } from '../core/model/events.ts';
import type { Order } from '../core/model/model.ts';
import { verify } from './worker/dev.ts';
import { withWork } from './worker/worker.ts';
import type { Agents, Checks } from './worker/worker-ports.ts';

/** What a dev that is nobody's child here says of its item. */
export type Said =
  | {
      readonly to: 'qa';
      readonly captured: Readonly<Record<string, string>>;
      readonly recommendations: readonly string[];
    }
  | { readonly to: 'failed'; readonly reason: string };

/** `to` absent: it is not over, and `reason` says why. `isAttempt`: that was an attempt, and it failed. */
export interface Believed {
  readonly to?: 'qa' | 'failed';
  readonly reason?: string;
  readonly outputs: Readonly<Record<string, string>>;
  readonly isAttempt: boolean;
}

/**
 * A dev that works elsewhere (inside OpenCode, or a person) says that it is finished. It is believed as far as any dev:
 * declared outputs must be there, and the checks are run (rule X2). Attempts are counted here (rule D3): one that fails
 * by the dev's own word is one, too.
 */
export async function hearDev(
  order: Order,
  said: Said,
  attempt: { readonly number: number; readonly since: number; readonly now: number },
  agents: Agents,
  looks: Pick<Checks, 'run' | 'watch' | 'observe' | 'clock'>,
  emit: Emit,
  signal: AbortSignal,
): Promise<Believed> {
  const none = { trespass: async () => undefined, pause: async () => true, random: () => 0, spentUp: () => undefined };
  const checks: Checks = { ...looks, ...none };
  const believed = await withWork(order, agents, checks, emit, signal, async (work): Promise<Believed> => {
    const { number, since, now } = attempt;
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
    work.emit({ type: 'attempt:finished', ...subject, attempt: number, status, ...reason });
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
    });
    if (!isDone) return { to: 'failed', ...reason, outputs: {}, isAttempt: true };
    const outputs = order.settings.outputs.map((name) => [name, last.captured[name]!]);
    return { to: 'qa', outputs: Object.fromEntries(outputs), isAttempt: false };
  });
  return typeof believed === 'string' ? { reason: believed, outputs: {}, isAttempt: false } : believed;
}
