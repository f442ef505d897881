import type { ReportedVote } from '../model/events.ts';
import type { Order } from '../model/model.ts';

interface Report {
  readonly status: string;
  readonly reason?: string;
  readonly votes?: readonly ReportedVote[];
}

/**
 * What a report says about the lessons that the order has; `harmed` outweighs `helped`. A failure at the step of a lesson
 * counts against it.
 */
export function votesIn({ lessons = [] }: Pick<Order, 'lessons'>, { status, reason, votes = [] }: Report) {
  const failedAt = Number(/^FAILED \(step (\d+)\)/.exec(status)?.[1]);
  return lessons.flatMap(({ id, step }): ReportedVote[] => {
    const own = votes.filter((vote) => vote.lesson === id);
    const said = own.find(({ effect }) => effect === 'harmed') ?? own[0];
    if (step !== failedAt || said?.effect === 'harmed') return said ? [said] : [];
    return [{ lesson: id, effect: 'harmed', reason: reason ?? status }];
  });
}
