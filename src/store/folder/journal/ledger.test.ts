import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { Ledger } from './ledger.ts';

const total = { usage: { costUsd: 1 }, ms: 5000 };

test('X6 what is spent is kept beside the project, for one shift; a pipe in its place is no record, and waits for nobody', () => {
  const place = mkdtempSync(join(tmpdir(), 'nightshift-test-'));
  onTestFinished(() => rmSync(place, { recursive: true }));
  const folder = join(place, 'shift');
  const ledger = new Ledger(folder, { XDG_STATE_HOME: join(place, 'state') });
  const make = (cell: string) => {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder);
    writeFileSync(join(folder, 'table.csv'), `name,work\na,${cell}\n`);
  };
  make('todo');
  ledger.write(total);
  expect(ledger.read()).toEqual(total);
  // Time alone counts, too.
  ledger.write({ usage: {}, ms: 7000 });
  expect(ledger.read()).toEqual({ usage: {}, ms: 7000 });
  make('todo');
  expect(ledger.read()).toBeUndefined();
  make('done');
  expect(ledger.read()).toEqual({ usage: {}, ms: 7000 });
  rmSync(ledger.file!);
  execFileSync('mkfifo', [ledger.file!]);
  expect(ledger.read()).toBeUndefined();
});
