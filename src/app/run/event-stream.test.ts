import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { shiftPaths } from '../../store/folder/layout.ts';
import { readHistory } from '../history.ts';
import { EventStream } from './event-stream.ts';

const JOURNAL = '.nightshift/night/.engine/journal.jsonl';
const subject = { task: 'work', item: 'i1', index: 0 };

test.each([
  ['its folder removed', 'rm -r .nightshift/night/.engine', 'was removed'],
  ['the file removed', `rm ${JOURNAL}`, 'was removed'],
  ['the file emptied', `: > ${JOURNAL}`, 'was cut short'],
  ['the file cut and filled up again', `: > ${JOURNAL}; head -c 99999 /dev/zero >> ${JOURNAL}`, 'was cut short'],
  ['an old copy put back', `cp ${JOURNAL} old; rm ${JOURNAL}; head -n 1 old > ${JOURNAL}`, 'was replaced'],
  ['half a line', `printf '{half' >> ${JOURNAL}`, undefined],
  ['a link in its place', `ln -sf $PWD/outside.txt ${JOURNAL}`, 'was replaced'],
  ['a folder in its place', `rm ${JOURNAL}; mkdir ${JOURNAL}`, 'was replaced'],
  ['a pipe in its place', `rm ${JOURNAL}; mkfifo ${JOURNAL}`, 'was replaced'],
  [
    'its folder a link',
    'mkdir -p elsewhere; rm -r .nightshift/night/.engine; ln -s $PWD/elsewhere .nightshift/night/.engine',
    'was removed',
  ],
])('X6 what was spent, and why an item failed, survives what agents do to the journal: %s', async (_, damage, told) => {
  const root = mkdtempSync(join(tmpdir(), 'nightshift-events-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  const paths = shiftPaths(root, 'night');
  mkdirSync(paths.folder, { recursive: true });
  writeFileSync(join(root, 'outside.txt'), 'mine');
  const world = (state: string) => ({ cwd: root, env: { XDG_STATE_HOME: join(root, state) }, now: Date.now });
  const messages: string[] = [];
  await using stream = new EventStream('run-1', paths, world('state'), {
    onEvent: (event) => event.type === 'run:warning' && messages.push(event.message),
  });
  await stream.open(() => {});
  const spend = () =>
    stream.emit({ type: 'usage:spent', ...subject, role: 'dev', agent: 'a', usage: { costUsd: 0.25 } });
  const damageNow = async () => {
    await stream.flush();
    execFileSync('sh', ['-c', damage], { cwd: root });
  };
  spend();
  await damageNow();
  spend();
  const dev = { ...subject, ms: 1, key: 'k', attempts: 1 };
  stream.emit({ type: 'dev:finished', ...dev, status: 'FAILED (step 1)', reason: 'the reason that matters' });
  await damageNow();
  spend();
  await stream.flush();

  // Without the ledger.
  const history = await readHistory(paths, world('other'));
  expect(history.usage).toEqual({ costUsd: 0.75 });
  expect(history.of('work', 'i1')?.failure).toBe('the reason that matters');
  expect(messages.join('\n')).toContain(told ?? '');
  expect(messages.length > 0).toBe(told !== undefined);
  expect(readFileSync(join(root, 'outside.txt'), 'utf8')).toBe('mine');
  expect(existsSync(join(root, 'elsewhere/journal.jsonl'))).toBe(false);
  expect(statSync(paths.engine).mode & 0o777).toBe(0o700);
});
