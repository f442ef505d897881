import { shellWord } from '../schedule/run-request.ts';
import type { Action } from './action.ts';

/** What an action is about, as its shift is now. */
export interface ActionTarget {
  /** The name of the shift. */
  readonly shift: string;
  readonly isRunning: boolean;
  /** 1-based, ascending; absent: the action does not name rows. */
  readonly rows?: readonly number[];
  /** For `withdraw`: what runs in these rows. */
  readonly running?: readonly { readonly task: string; readonly row: number }[];
}

/** The command lines that do the same, for a shell. One for each line. */
export function actionCommand(action: Action, target: ActionTarget): string {
  return wordsOf(action, target)
    .map((words) => ['nightshift', ...words].map((word) => (OPTION.test(word) ? word : shellWord(word))).join(' '))
    .join('\n');
}

/** Means the same to a shell with quotes and without. */
const OPTION = /^--[a-z-]*$/;

/** The words of each command line, without the program. */
function wordsOf(action: Action, { shift, isRunning, rows, running = [] }: ActionTarget): string[][] {
  const chosen = rows === undefined ? [] : [rowsText(rows)];
  switch (action.verb) {
    case 'pause':
    case 'stop':
      return [[action.verb, shift, ...(action.now ? ['--now'] : [])]];
    case 'resume':
      return [['resume', shift]];
    case 'start':
      return [['start', shift, ...option('--max-cost', action.maxCost), '--detach']];
    case 'retry': {
      const task = option('--task', action.task);
      if (isRunning)
        return [['table', shift, 'reset', '--failed', ...chosen.flatMap((each) => ['--row', each]), ...task]];
      const limit = option('--max-cost', action.maxCost);
      return [['retry', shift, ...task, ...chosen.flatMap((each) => ['--rows', each]), ...limit, '--detach']];
    }
    case 'reset':
      return [
        ['table', shift, 'reset', ...chosen.flatMap((each) => ['--row', each]), ...option('--task', action.task)],
      ];
    case 'withdraw':
      return running.map(({ task, row }) => ['table', shift, 'edit', task, 'failed', '--row', String(row)]);
    case 'edit': {
      const { column, value } = action;
      // A text that looks like an option must not be one.
      const end = [column, value].some((text) => text.startsWith('-')) ? ['--'] : [];
      return [['table', '--row', ...chosen, ...end, shift, 'edit', column, value]];
    }
    case 'lesson':
      return [['lessons', shift, action.decision, ...action.ids]];
    case 'restore':
      return [['steps', shift, action.task, '--restore', String(action.version)]];
    case 'deliver':
      return [['deliver', shift, ...chosen.flatMap((each) => ['--rows', each]), '--yes']];
  }
}

function option(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [name, value];
}

/** `3,7:9`, as `--rows` takes it. */
export function rowsText(rows: readonly number[]): string {
  const ranges: [from: number, to: number][] = [];
  for (const row of rows) {
    const last = ranges.at(-1);
    if (last && last[1] === row - 1) last[1] = row;
    else ranges.push([row, row]);
  }
  return ranges.map(([from, to]) => (from === to ? `${from}` : `${from}:${to}`)).join(',');
}
