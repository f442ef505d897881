import type { Emit, ReportedVote } from '../../src/core/model/events.ts';
import type { Order, Outcome, Trouble } from '../../src/core/model/model.ts';
import type { SimulatedClock } from './simulated-clock.ts';

/** What a simulated agent makes of one order. */
export interface Act {
  readonly ms?: number;
  readonly costUsd?: number;
  readonly end?: 'pass' | 'fail' | Trouble;
  readonly recommendations?: readonly string[];
  readonly votes?: readonly ReportedVote[];
}

/** `nth`: 0 for the first order of this role for this item-task, in whichever run. */
export type Play = (order: Order, nth: number) => Act | Promise<Act>;

/** An order that was carried out. `status`: that of its cell when the work began. */
export interface Work {
  readonly run: number;
  readonly role: 'dev' | 'qa';
  readonly task: string;
  readonly row: number;
  readonly status: string;
  readonly from: number;
  to?: number;
}

/** The same events and outcomes as those of the real worker, without agents. */
export async function carryOut(
  order: Order,
  act: Act,
  { clock, emit, signal }: { clock: SimulatedClock; emit: Emit; signal: AbortSignal },
): Promise<Outcome> {
  const { role, item, key, task, version, settings } = order;
  const about = { task, index: item.index, item: item.id };
  if (role === 'dev') emit({ type: 'dev:started', ...about, agent: settings.agent, key, version });
  else emit({ type: 'qa:started', ...about, agent: settings.agent, key });
  if (act.ms !== undefined) await clock.sleep(act.ms, signal);
  const usage = act.costUsd === undefined ? {} : { costUsd: act.costUsd };
  if (act.costUsd !== undefined) emit({ type: 'usage:spent', ...about, role, agent: settings.agent, usage });
  const outcome = { ...outcomeOf(order, act, signal.aborted), usage };
  const { reason, recommendations, to } = outcome;
  const votes = act.votes === undefined ? {} : { votes: [...act.votes] };
  if (role === 'dev') {
    const status = to === 'qa' ? 'SUCCESS' : to === 'failed' ? 'FAILED (step 1)' : 'NONE';
    const said = {
      ...(reason === undefined ? {} : { reason, failurePoint: 'step 1' }),
      recommendations: [...recommendations],
    };
    if (act.votes) emit({ type: 'attempt:finished', ...about, attempt: 1, status, ...votes });
    emit({ type: 'dev:finished', ...about, status, attempts: 1, ms: act.ms ?? 0, key, usage, ...said });
  } else {
    const status = to === 'done' ? 'PASS' : to === 'failed' ? 'FAIL' : 'NONE';
    emit({ type: 'qa:finished', ...about, status, ms: act.ms ?? 0, key, usage, verdicts: [], ...votes });
  }
  return outcome;
}

function outcomeOf(
  { role, item, token, isLastChance }: Order,
  { end = 'pass', ...act }: Act,
  isStopped: boolean,
): Outcome {
  const outcome = {
    ...{ role, id: item.id, token, attempts: 1, verdicts: [], outputs: {}, captured: {}, usage: {}, compacted: false },
    recommendations: end === 'pass' ? (act.recommendations ?? []) : [],
  };
  if (isStopped) return { ...outcome, reason: 'stopped' };
  if (end === 'pass') return { ...outcome, to: role === 'dev' ? 'qa' : 'done' };
  const isFailed = end === 'fail' || (end.isRequested && isLastChance);
  if (isFailed) return { ...outcome, to: 'failed', reason: 'it is broken', failurePoint: 'step 1', isVerdict: true };
  return { ...outcome, reason: end.reason, trouble: end };
}
