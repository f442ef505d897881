import { expect, test } from 'vitest';
import type { TranscriptEntry } from '../../../src/core/model/events.ts';
import { blocksOf } from './blocks.ts';

const entries = (list: readonly (TranscriptEntry & { attempt?: number })[]) =>
  list.map((entry, offset) => ({
    offset,
    line: { at: '2026-11-18T02:00:00.000Z', role: 'dev', attempt: 1, ...entry },
  }));

const shape = (list: Parameters<typeof entries>[0]) =>
  blocksOf(entries(list)).map(({ kind, entries: parts }) => [kind, ...parts.map(({ offset }) => offset)]);

test('a text that arrived in pieces is one block, within its attempt', () => {
  const text = (attempt = 1) => ({ kind: 'text', text: 'a', attempt }) as const;
  expect(shape([text(), text(), { kind: 'note', text: 'step 2' }, text(), text(2)])).toEqual([
    ['text', 0, 1],
    ['note', 2],
    ['text', 3],
    ['text', 4],
  ]);
});

test('the result of a tool belongs to the first call of that tool without one, also if calls run side by side', () => {
  const call = (tool: string) => ({ kind: 'tool-call', tool, text: '{}', mayWrite: false }) as const;
  const result = (tool: string) => ({ kind: 'tool-result', tool, text: '', isError: false }) as const;
  const list = [call('Read'), call('Bash'), call('Read'), result('Read'), result('Bash'), result('Read')];
  expect(shape(list)).toEqual([
    ['tool-call', 0, 3],
    ['tool-call', 1, 4],
    ['tool-call', 2, 5],
  ]);
  // A call that never got a result does not take that of a later turn.
  expect(shape([call('Read'), { kind: 'text', text: 'again' }, result('Read')])).toEqual([
    ['tool-call', 0],
    ['text', 1],
    ['tool-result', 2],
  ]);
});
