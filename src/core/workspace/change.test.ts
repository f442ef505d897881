import { expect, test } from 'vitest';
import { type ChangeLimits, parseChange, violationOf } from './change.ts';

const NUMSTAT = '1\t2\tsrc/a b.ts\0' + '10\t0\tnew\nline\0' + '-\t-\tlogo.png\0' + '0\t4\told.txt\0';
const NAMES = 'M\0src/a b.ts\0A\0new\nline\0M\0logo.png\0D\0old.txt\0';
const change = parseChange(NUMSTAT, NAMES);

const NONE: ChangeLimits = { allow: [], deny: [] };

test('W6 a change is read from what git prints, whatever the names of files', () => {
  expect(change.files).toEqual([
    { path: 'src/a b.ts', kind: 'changed', added: 1, deleted: 2 },
    { path: 'new\nline', kind: 'added', added: 10, deleted: 0 },
    { path: 'logo.png', kind: 'changed' },
    { path: 'old.txt', kind: 'removed', added: 0, deleted: 4 },
  ]);
  expect(parseChange('', '')).toEqual({ files: [] });
});

test.each<[Partial<ChangeLimits>, string | undefined]>([
  [{}, undefined],
  [{ deny: ['src/**'] }, 'it changed src/a b.ts, which `deny-paths` forbids'],
  [
    { allow: ['src/**', 'logo.png', 'old.txt'] },
    'it changed new\nline, and `allow-paths` allows only src/**, logo.png, old.txt',
  ],
  [{ maxFiles: 4, maxLines: 17 }, undefined],
  [{ maxFiles: 3 }, 'it changed 4 files, and `max-files` allows 3: src/a b.ts, new\nline, logo.png, old.txt'],
  [{ maxLines: 16 }, 'it changed 17 lines, and `max-lines` allows 16'],
])('W6 limits %j: %j', (limits, reason) => {
  expect(violationOf(change, { ...NONE, ...limits }, { folder: '', protect: [] })).toBe(reason);
});

test('W6 globs are relative to the folder that agents work in', () => {
  const place = { folder: 'src', protect: ['*.ts'] };
  expect(violationOf(change, NONE, place)).toBe('it changed src/a b.ts, which `protect` forbids');
  expect(violationOf(change, NONE, { folder: 'src', protect: ['*.txt'] })).toBeUndefined();
  expect(violationOf(change, { ...NONE, deny: ['../*.{png,jpg}'] }, { folder: 'src', protect: [] })).toBe(
    'it changed logo.png, which `deny-paths` forbids',
  );
});
