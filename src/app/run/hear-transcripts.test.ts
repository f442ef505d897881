import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shiftPaths } from '../../store/folder/layout.ts';
import { hearTranscripts } from './hear-transcripts.ts';

const line = (text: string) =>
  `${JSON.stringify({ role: 'dev', attempt: 1, kind: 'tool-call', tool: 'write', text })}\n`;
const KB = 1024;

async function heardOf(transcript: string): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-hear-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const paths = shiftPaths(root, 'night');
  const file = paths.transcript('work', 'key', 'dev');
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, transcript);
  const heard: string[] = [];
  const item = { task: 'work', item: 'a', key: 'key', role: 'dev' as const, lastSign: 0 };
  await hearTranscripts(paths, {
    running: new Map([['work a', item]]),
    heard: (_task, _item, _at, entry) => void heard.push(entry && 'text' in entry ? entry.text.slice(0, 5) : 'alive'),
  });
  return heard;
}

test.each([
  ['the last entries of a long transcript', line('early') + line('x'.repeat(9 * KB)) + line('late'), ['xxxxx', 'late']],
  ['an entry longer than what is read first', line('early') + line('ä'.repeat(100 * KB)), ['äääää']],
  ['a short transcript', line('one') + line('two'), ['one', 'two']],
  ['a line that is being written', `${line('one')}{"kind":"tool-`, ['one']],
  ['no entry longer than a megabyte, but what follows it', line('x'.repeat(1100 * KB)) + line('late'), ['late']],
  ['of one entry longer than a megabyte, a sign of life', line('x'.repeat(1100 * KB)), []],
])('X8 attach hears %s', async (_, transcript, entries) => {
  expect(await heardOf(transcript)).toEqual(['alive', ...entries]);
});
