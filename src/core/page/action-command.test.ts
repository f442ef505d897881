import { expect, test } from 'vitest';
import type { Action } from './action.ts';
import { type ActionTarget, actionCommand, rowsText } from './action-command.ts';

const HERE: ActionTarget = { shift: 'pages', isRunning: false };
const ROWS = { items: ['a'] };

test.each<[Action, Partial<ActionTarget>, string]>([
  [{ verb: 'pause' }, {}, 'nightshift pause pages'],
  [{ verb: 'stop', now: true }, {}, 'nightshift stop pages --now'],
  [{ verb: 'resume' }, {}, 'nightshift resume pages'],
  [{ verb: 'start', maxCost: '2.50' }, {}, 'nightshift start pages --max-cost 2.50 --detach'],
  [{ verb: 'retry' }, {}, 'nightshift retry pages --detach'],
  [
    { verb: 'retry', rows: ROWS, task: 'write', maxCost: 'none' },
    { rows: [3, 7, 8, 9] },
    'nightshift retry pages --task write --rows 3,7:9 --max-cost none --detach',
  ],
  [{ verb: 'retry', rows: ROWS }, { rows: [3], isRunning: true }, 'nightshift table pages reset --failed --row 3'],
  [
    { verb: 'reset', rows: ROWS, task: 'write' },
    { rows: [1, 2] },
    'nightshift table pages reset --row 1:2 --task write',
  ],
  [
    { verb: 'withdraw', rows: ROWS },
    {
      running: [
        { task: 'write', row: 3 },
        { task: 'check', row: 4 },
      ],
    },
    'nightshift table pages edit write failed --row 3\nnightshift table pages edit check failed --row 4',
  ],
  [
    { verb: 'edit', item: 'a', column: 'a topic', was: '', value: "it's $HOME\n`id`" },
    { rows: [3] },
    "nightshift table --row 3 pages edit 'a topic' 'it'\\''s $HOME\n`id`'",
  ],
  [
    { verb: 'edit', item: 'a', column: 'topic', was: '', value: '--force' },
    { rows: [3] },
    'nightshift table --row 3 -- pages edit topic --force',
  ],
  [{ verb: 'lesson', decision: 'accept', ids: ['L1', 'L2'] }, {}, 'nightshift lessons pages accept L1 L2'],
  [{ verb: 'restore', task: 'write', version: 2 }, {}, 'nightshift steps pages write --restore 2'],
  [{ verb: 'deliver', rows: ROWS }, { rows: [3] }, 'nightshift deliver pages --rows 3 --yes'],
])('X8 the command line of %j is one that a shell takes as it is', (action, target, command) => {
  expect(actionCommand(action, { ...HERE, ...target })).toBe(command);
});

test('X8 rows that follow each other are a range', () => {
  expect(rowsText([1, 2, 3, 5, 7, 8])).toBe('1:3,5,7:8');
  expect(rowsText([])).toBe('');
});
