import type { ReportedVote } from '../model/events.ts';
import type { Order } from '../model/model.ts';

interface Report {
  readonly status: string;
  readonly reason?: string;
  readonly votes?: readonly ReportedVote[];
}

/** What a report says about the lessons that the order has. A failure at the step of a lesson counts against it. */
export function votesIn({ lessons = [] }: Pick<Order, 'lessons'>, { status, reason, votes = [] }: Report) {
  const failedAt = Number(/^FAILED \(step (\d+)\)/.exec(status)?.[1]);
  return lessons.flatMap(({ id, step }): ReportedVote[] => {
    const said = votes.find((vote) => vote.lesson === id);
    if (step !== failedAt || said?.effect === 'harmed') return said ? [said] : [];
    return [{ lesson: id, effect: 'harmed', reason: reason ?? status }];
  });
}
