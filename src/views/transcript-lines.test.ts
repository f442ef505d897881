import { expect, test } from 'vitest';
import type { TranscriptEntry, TranscriptLine } from '../core/model/events.ts';
import { TranscriptLines } from './transcript-lines.ts';

const NOW = new Date(2026, 0, 2, 22, 30).getTime();

function shown(...entries: readonly TranscriptEntry[]): string[] {
  const view = new TranscriptLines({ withPrompts: false, now: () => NOW });
  const session = { task: 'write', row: 15, label: 'libgd-ocaml-dev' };
  const at = new Date(NOW - 60_000).toISOString();
  const lines = entries.map((entry): TranscriptLine => ({ ...entry, at, role: 'dev', attempt: 1 }));
  return [...lines.flatMap((line) => view.of(session, line)), ...view.end()];
}

test('X8 `logs --row` prints whole lines, however the output arrived, and names the row', () => {
  expect(
    shown(
      { kind: 'output', text: 'beg' },
      { kind: 'output', text: 'in\nmid' },
      { kind: 'error', text: 'warn' },
      { kind: 'output', text: 'dle\n' },
      { kind: 'error', text: 'ing\n' },
      { kind: 'output', text: 'last' },
    ),
  ).toEqual([
    '--- row 15 libgd-ocaml-dev: write, dev attempt 1, output (22:29)',
    '  begin',
    '  middle',
    '--- row 15 libgd-ocaml-dev: write, dev attempt 1, error (22:29)',
    '  warning',
    '--- row 15 libgd-ocaml-dev: write, dev attempt 1, output (22:30)',
    '  last',
  ]);
});

test('X8 a text is complete when a tool is called', () => {
  const call: TranscriptEntry = { kind: 'tool-call', tool: 'edit', text: '{}', mayWrite: true };
  const lines = shown({ kind: 'text', text: 'I ed' }, { kind: 'text', text: 'it it.' }, call).map((line) =>
    line.replace('row 15 libgd-ocaml-dev: write, dev attempt 1, ', ''),
  );
  expect(lines).toEqual(['--- text (22:29)', '  I edit it.', '--- calls edit (22:29)', '  {}']);
});
