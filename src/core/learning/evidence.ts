import type { LessonVote } from '../model/events.ts';
import type { Blame, LessonRecord, Support, Vote } from './lesson.ts';
import { type FoldedRecommendation, ordered } from './reports.ts';

/** The newest ones count: a long night must not make the file grow, and old votes must not outweigh what is true now. */
const MOST_VOTES = 40;

/** The lesson with these votes. Each item has one; `harmed` outweighs `helped` of the same item. */
export function withVotes(lesson: LessonRecord, votes: readonly LessonVote[]): LessonRecord {
  const all = new Map<string, Vote | Blame>();
  const given = votes.filter(({ at }) => at > lesson.since).map(toEvidence);
  for (const vote of [...lesson.credit, ...lesson.blame, ...given]) {
    const known = all.get(vote.item);
    all.set(vote.item, known ? combined(known, vote) : vote);
  }
  const newest = newestOf([...all.values()]);
  return { ...lesson, credit: newest.filter((vote) => !isBlame(vote)), blame: newest.filter(isBlame) };
}

export function withSupport(lesson: LessonRecord, recommendations: readonly FoldedRecommendation[]): LessonRecord {
  const all = new Map<string, Support>(lesson.support.map((each) => [each.item, each]));
  for (const { item, row, attempts, at, agent, model } of recommendations) {
    const known = all.get(item);
    if (known && known.at >= at) continue;
    all.set(item, { item, row, attempts, at, agent, ...(model === undefined ? {} : { model }) });
  }
  return { ...lesson, support: newestOf([...all.values()]) };
}

/** The support that counts: after it left the Steps, only what came later. */
export function freshSupport({ support, freshFrom }: LessonRecord): readonly Support[] {
  return freshFrom === undefined ? support : support.filter(({ at }) => at > freshFrom);
}

/** How useful rows found it. */
export function worthOf({ credit, blame }: LessonRecord): number {
  return credit.length - blame.length;
}

/** Two different rows, and more than found it helpful. */
export function isBlamed({ credit, blame }: LessonRecord): boolean {
  return blame.length >= 2 && blame.length > credit.length;
}

export function blameReason({ blame }: LessonRecord): string {
  const rows = blame.map(({ row }) => row).sort((a, b) => a - b);
  const reasons = [...new Set(blame.map(({ reason }) => reason).filter((reason) => reason !== ''))];
  return `blamed by rows ${rows.join(', ')}${reasons.length > 0 ? `: ${reasons.slice(-3).join('; ')}` : ''}`;
}

function toEvidence({ item, row, at, effect, reason }: LessonVote): Vote | Blame {
  return effect === 'harmed' ? { item, row, at, reason } : { item, row, at };
}

function isBlame(vote: Vote | Blame): vote is Blame {
  return 'reason' in vote;
}

function combined(a: Vote | Blame, b: Vote | Blame): Vote | Blame {
  const [older, newer] = a.at <= b.at ? [a, b] : [b, a];
  if (isBlame(newer)) return newer;
  return isBlame(older) ? { ...older, at: newer.at } : newer;
}

function newestOf<T extends Vote>(votes: readonly T[]): T[] {
  return [...votes].sort((a, b) => ordered(a.at, b.at) || a.row - b.row || ordered(a.item, b.item)).slice(-MOST_VOTES);
}
