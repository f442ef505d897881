import { groupByMeaning } from './manager.ts';
import { attempt, type World } from './world.ts';

export interface GivenLesson {
  readonly id: string;
  readonly step: number;
  readonly text: string;
}

export interface DevReport {
  readonly overall_status: string;
  readonly lessons: readonly { readonly id: string; readonly effect: 'helped' | 'harmed'; readonly reason: string }[];
  readonly recommendations: readonly string[];
  readonly error: string | null;
}

/** What a dev reports that knows its row, its attempt and its lessons, and remembers nothing. */
export function devReport(
  world: World,
  { row, number }: { readonly row: number; readonly number: number },
  given: readonly GivenLesson[],
): DevReport {
  const lessonOf = new Map(given.map((lesson) => [lesson.text, lesson]));
  const { success, failedAt, votes, recommendations } = attempt(world, row, number, [...lessonOf.keys()]);
  const point = failedAt === undefined ? 'validation' : `step ${lessonOf.get(failedAt)!.step}`;
  return {
    overall_status: success ? 'SUCCESS' : `FAILED (${point})`,
    lessons: votes.map(({ lesson, effect, reason }) => ({ id: lessonOf.get(lesson)!.id, effect, reason })),
    recommendations,
    error: success ? null : 'the card is wrong',
  };
}

/** The report of an agent that was asked by the engine. The lessons are where the prompt says that they are. */
export function reportFor(
  world: World,
  { role, prompt, row, number }: { readonly role: string; prompt: string; row: number; number: number },
): object {
  if (role === 'dev') return devReport(world, { row, number }, lessonsIn(prompt));
  if (role === 'qa') {
    return { overall_status: 'PASS', criteria: [{ criterion: '1', status: 'PASS', reason: 'the card is right' }] };
  }
  const read = (part: string) => lines(prompt, part).map((line) => JSON.parse(line));
  return groupByMeaning(read('recommendations'), read('lessons'));
}

function lessonsIn(prompt: string): GivenLesson[] {
  const numbered = lines(prompt, 'task').flatMap((line) => {
    const [, number, text] = /^(\d+)\. (.*)$/.exec(line) ?? [];
    return number === undefined || text === undefined ? [] : [[Number(number), text] as const];
  });
  const steps = new Map(numbered);
  return lines(prompt, 'lessons').map((line) => {
    const [, id, number] = /^(L\d+): step (\d+)$/.exec(line)!;
    return { id: id!, step: Number(number), text: steps.get(Number(number))! };
  });
}

/** The lines between the tags of a part; none if the prompt does not have it. */
function lines(prompt: string, part: string): string[] {
  const text = new RegExp(`^<${part}-(\\w+)>\n(.*?)\n</${part}-\\1>$`, 'ms').exec(prompt)?.[2];
  return text === undefined ? [] : text.split('\n').filter((line) => line !== '');
}
