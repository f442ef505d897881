import type { LessonVote } from '../model/events.ts';
import type { Blame, LessonRecord, Support, Vote } from './lesson.ts';
import { type FoldedRecommendation, ordered } from './reports.ts';

/** The newest ones count: a long night must not make the file grow, and old votes must not outweigh what is true now. */
const MOST_VOTES = 40;
/** Measured by `npm run bench -- learning`: with fewer, wrong blame removes more good lessons. */
const CREDITS_OTHERS = 12;

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

/**
 * Why rows want a lesson out of the Steps, if they do: two of them blame it, and more than credit it. One is enough for
 * a lesson without credit once so many rows have credited others: those rows say what helps, and this did not.
 * `applied`: all lessons in the Steps.
 */
export function whyBlamed(lesson: LessonRecord, applied: readonly LessonRecord[]): string | undefined {
  const { credit, blame, since } = lesson;
  if (blame.length === 0 || blame.length <= credit.length) return undefined;
  if (blame.length >= 2) return blameReason(blame);
  const given = applied.flatMap((other) => other.credit).filter(({ at }) => at > since);
  const rows = new Set(given.map(({ item }) => item)).size;
  if (rows < CREDITS_OTHERS) return undefined;
  return `${blameReason(blame)}; ${rows} rows credited other lessons since, and none this one`;
}

function blameReason(blame: readonly Blame[]): string {
  const rows = blame.map(({ row }) => row).sort((a, b) => a - b);
  const reasons = [...new Set(blame.map(({ reason }) => reason).filter((reason) => reason !== ''))];
  const by = rows.length === 1 ? `row ${rows[0]}` : `rows ${rows.join(', ')}`;
  return `blamed by ${by}${reasons.length > 0 ? `: ${reasons.slice(-3).join('; ')}` : ''}`;
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
