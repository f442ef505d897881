import type { LessonList } from '../app/lessons/list-lessons.ts';
import type { LessonChange, LessonRecord, LessonState } from '../core/learning/lesson.ts';
import { count, listed } from '../core/text/count.ts';
import { localTime } from '../core/text/local-time.ts';
import { oneLine } from '../core/text/printable.ts';

const LONGEST_TEXT = 1000;
const ROWS_SHOWN = 12;

interface Group {
  readonly states: readonly LessonState[];
  readonly title: string;
  /** What you can do with them. */
  readonly verbs?: readonly string[];
}

const GROUPS: readonly Group[] = [
  { states: ['held'], title: 'Held: you decide', verbs: ['accept', 'reject'] },
  { states: ['waiting'], title: 'Waiting for more rows', verbs: ['accept', 'reject'] },
  { states: ['firm', 'pinned'], title: 'In the Steps', verbs: ['pin', 'ban'] },
  { states: ['retired'], title: 'Retired: may return' },
  { states: ['banned'], title: 'Banned: never again', verbs: ['undo'] },
];

/** What needs a person first. */
export function lessonLines(list: LessonList, now: number): string[] {
  const { shift, task, mode, lessons } = list;
  const where = task === undefined ? shift : `${shift}, ${task}`;
  if (lessons.length === 0) return [`${where}: no lessons yet (lessons: ${mode})`];
  const hasSeveralTasks = new Set(lessons.map((lesson) => lesson.task)).size > 1;
  return [
    `${where}: ${count(lessons.length, 'lesson')} (lessons: ${mode})`,
    ...GROUPS.flatMap(({ states, title, verbs = [] }) => {
      const group = lessons.filter(({ state }) => states.includes(state));
      if (group.length === 0) return [];
      const command = verbs.length === 0 ? '' : ` (\`nightshift lessons ${shift} ${verbs.join('|')} ID\`)`;
      return ['', `${title}${command}`, ...group.flatMap(recordLines(hasSeveralTasks, now))];
    }),
  ];
}

function recordLines(showsTask: boolean, now: number): (lesson: LessonRecord) => string[] {
  return (lesson) => {
    const { id, text, reason, since, from, by, state, task } = lesson;
    const facts = [
      ...(showsTask ? [task] : []),
      ...(state === 'pinned' ? ['pinned'] : []),
      ...evidenceOf(lesson),
      ...(from === undefined ? [] : [`from the shift ${from}`]),
      ...(by === undefined ? [] : ['by a person']),
      `since ${localTime(since, now)}`,
    ];
    const why = reason === undefined ? [] : [`${' '.repeat(6)}${oneLine(reason, LONGEST_TEXT)}`];
    return [
      `  ${id.padEnd(3)} ${oneLine(text, LONGEST_TEXT)}`,
      ...why,
      `${' '.repeat(6)}${oneLine(facts.join('; '), LONGEST_TEXT)}`,
    ];
  };
}

/** Which rows recommend it, and what rows that worked with it say. */
function evidenceOf({ support, credit, blame }: LessonRecord): string[] {
  const votes = [
    ...(credit.length > 0 ? [`helped ${count(credit.length, 'row')}`] : []),
    ...(blame.length > 0 ? [`harmed ${count(blame.length, 'row')}`] : []),
  ];
  return [...(support.length > 0 ? [rowsOf(support.map(({ row }) => row))] : []), ...votes];
}

function rowsOf(rows: readonly number[]): string {
  const sorted = [...rows].sort((a, b) => a - b);
  const more = sorted.length > ROWS_SHOWN ? ` and ${sorted.length - ROWS_SHOWN} more` : '';
  return `${listed('row', sorted.slice(0, ROWS_SHOWN))}${more}`;
}

/** What a command did. */
export function changeLine({ id, from, to, text, reason }: LessonChange): string {
  const why = reason === undefined ? '' : ` (${oneLine(reason)})`;
  return `${id} ${from === undefined ? '' : `${from} -> `}${to}: ${oneLine(text, LONGEST_TEXT)}${why}`;
}

/** All lessons as a document: a list for each task and state. */
export function lessonsMarkdown({ shift, lessons }: LessonList): string[] {
  const tasks = [...new Set(lessons.map(({ task }) => task))].sort();
  return [
    `# Lessons of ${shift}`,
    ...tasks.flatMap((task) => [
      '',
      `## ${task}`,
      ...GROUPS.flatMap(({ states, title }) => {
        const group = lessons.filter((lesson) => lesson.task === task && states.includes(lesson.state));
        if (group.length === 0) return [];
        return ['', `### ${title.split(':')[0]}`, '', ...group.map(markdownOf)];
      }),
    ]),
  ];
}

function markdownOf(lesson: LessonRecord): string {
  const { id, text, reason } = lesson;
  const facts = [id, ...evidenceOf(lesson), ...(reason === undefined ? [] : [reason])];
  return `- ${asMarkdown(text)} (${asMarkdown(facts.join('; '))})`;
}

/** Text from agents must not become HTML or a link that hides where it leads. */
function asMarkdown(text: string): string {
  return oneLine(text, LONGEST_TEXT).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replace(/[[\]]/g, '\\$&');
}
