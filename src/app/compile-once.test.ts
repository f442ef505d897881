import { expect, test } from 'vitest';
import { parseLessons } from '../formats/lessons.ts';
import { parseManager } from '../formats/manager.ts';
import { parseTask } from '../formats/task.ts';
import { compileOnce } from './compile-once.ts';

const TASK = '## Configuration\n\n- agent: shell\n\n## Steps\n\n1. Do {name}\n\n## Validation\n\n- Done\n';

interface Texts {
  readonly manager?: string;
  readonly task?: string;
  readonly env?: string;
  readonly lessons?: string;
}

function read({ manager = '', task = TASK, env, lessons }: Texts = {}) {
  const text = `## Shift Configuration\n\n${manager}\n\n## Task Order\n\n1. make\n`;
  return {
    ...{ name: 'night', root: '/r', folder: '/r/f', table: '/r/f/table.csv', managerFile: 'manager.md' },
    manager: parseManager(text, 'manager.md'),
    tasks: [{ name: 'make', file: 'make.md', document: parseTask(task, 'make.md') }],
    secrets: new Map(env === undefined ? [] : [['KEY', env]]),
    ...(env === undefined ? {} : { env: `KEY=${env}` }),
    ...(lessons === undefined ? {} : { lessons: parseLessons(lessons, 'lessons.json') }),
  };
}

test('M1 files that are read again are compiled again only if a text or the header has changed', () => {
  const compile = compileOnce({});
  const header = ['name', 'make'];
  const shift = compile(read(), header);
  expect(compile(read(), [...header])).toBe(shift);
  const lessons = '{"version": 1, "next": 1, "lessons": []}';
  const edits = [{ manager: '- parallel: true' }, { task: TASK.replace('Do', 'Make') }, { env: 'x' }, { lessons }];
  for (const changed of edits) {
    const before = compile(read(), header);
    const other = compile(read(changed), header);
    expect(other).not.toBe(before);
    expect(compile(read(changed), header)).toBe(other);
  }
  expect(compile(read(), [...header, 'more'])).not.toBe(compile(read(), header));
});
