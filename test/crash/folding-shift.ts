import { resolve } from 'node:path';
import { type Project, type ShiftHandle, task } from '../harness.ts';

/** Above the rows that recommend something, some that only vote. */
const ROWS = 14;

export type Mode = 'careful' | 'eager';

/** A lesson as it must be at the end, however often the shift was killed; see folding-agent.sh. */
export interface ExpectedLesson {
  /** A word that only this one has. */
  readonly word: string;
  readonly state: string;
  readonly rows: readonly number[];
}

export function expectedLessons(mode: Mode): ExpectedLesson[] {
  return [
    { word: 'paper', state: 'firm', rows: [1, 4, 9] },
    { word: 'glass', state: 'firm', rows: [2, 3] },
    { word: 'timber', state: 'retired', rows: [2, 5] },
    { word: 'texts.example', state: 'held', rows: [3, 10] },
    { word: 'velvet', state: mode === 'eager' ? 'firm' : 'waiting', rows: [7] },
    { word: 'marble', state: 'firm', rows: [8, 11] },
  ];
}

/** Quick items, two at a time, so that a run folds often. */
export function foldingShift(project: Project, lessons: Mode): ShiftHandle {
  const rows = Array.from({ length: ROWS }, (_, row) => `page ${row + 1},todo`);
  return project.shift('folding', {
    settings: { parallel: true, 'current-batch-size': 2, 'max-batch-size': 2, dispatch: 'batch', lessons },
    table: `name,make\n${rows.join('\n')}\n`,
    tasks: {
      make: task({
        configuration: `- agent: command\n- command: sh ${resolve('test/crash/folding-agent.sh')}`,
        steps: '1. Make {name}',
        validation: '- It reads well',
      }),
    },
  });
}

/** One more row: a run with nothing to do folds nothing. */
export function addRow(shift: ShiftHandle): void {
  shift.tableText += `page ${shift.rows().length + 1},todo\n`;
}
