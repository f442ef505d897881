import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { openBundle } from '../../fleet/bundle.ts';
import { type ShiftPaths, shiftPaths } from '../../store/folder/layout.ts';
import { ShiftBundle } from './shift-bundle.ts';

let paths: ShiftPaths;
let secrets: Record<string, string>;
let warnings: string[];
let bundle: ShiftBundle;

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['performance'] });
  paths = shiftPaths(realpathSync(mkdtempSync(join(tmpdir(), 'bundle-'))), 'pages');
  secrets = { TOKEN: 'a-secret-value' };
  warnings = [];
  const warn = (message: string) => void warnings.push(message);
  bundle = new ShiftBundle({ paths, tasks: () => ['write'], secrets: () => secrets, warn });
  write('prompts/x.md', 'first');
});

afterEach(() => {
  vi.useRealTimers();
  rmSync(paths.root, { recursive: true });
});

function write(path: string, text: string): string {
  const file = join(paths.folder, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
  return file;
}

async function packed(): Promise<Record<string, string>> {
  vi.advanceTimersByTime(1000);
  const { hash, bytes } = await bundle.latest();
  const files = await openBundle(bytes, hash);
  if (typeof files === 'string') throw new Error(files);
  return Object.fromEntries(files.map(({ path, isProgram, bytes: text }) => [path, `${text}${isProgram ? ' *' : ''}`]));
}

test("a bundle has the author's files, and none of Nightshift's", async () => {
  const own = ['manager.md', 'write.md', 'table.csv', 'table.csv.lock', 'table.csv.bak', 'lessons.json', 'report.html'];
  const more = ['.env', '.env.in-force', 'sub/.env.local', '.engine/journal.jsonl', '.7.nightshift-tmp'];
  for (const name of [...own, ...more, 'write.md.put-back-1', '.before-doctor-1/write.md']) write(name, 'own');
  chmodSync(write('checks/run', 'echo'), 0o755);
  write('notes.md', 'a file like others');
  write('sub/table.csv', 'of the author');
  expect(await packed()).toEqual({
    'checks/run': 'echo *',
    'notes.md': 'a file like others',
    'prompts/x.md': 'first',
    'sub/table.csv': 'of the author',
  });
});

test('links are followed inside of the folder only, and not to what stays', async () => {
  const outside = join(paths.root, 'outside.txt');
  writeFileSync(outside, 'outside');
  write('.env', 'TOKEN=a-secret-value');
  write('.engine/prompts/1.md', 'of the engine');
  const links = { out: outside, up: '..', self: '.', env: '.env', engine: '.engine/prompts', lost: 'nothing' };
  for (const [name, target] of Object.entries(links)) symlinkSync(target, join(paths.folder, name));
  symlinkSync('prompts/x.md', join(paths.folder, 'file'));
  symlinkSync('prompts', join(paths.folder, 'again'));
  symlinkSync('../prompts', join(paths.folder, 'prompts/loop'));
  expect(await packed()).toEqual({ file: 'first', 'prompts/x.md': 'first', 'again/x.md': 'first' });
});

test('a file with a secret stays here, and is named once; also if it becomes a secret later', async () => {
  write('config.json', `${' '.repeat(256 * 1024 - 7)}a-secret-value`);
  expect(Object.keys(await packed())).toEqual(['prompts/x.md']);
  write('prompts/y.md', 'second');
  expect(Object.keys(await packed())).toEqual(['prompts/x.md', 'prompts/y.md']);
  expect(warnings).toEqual([expect.stringContaining("workers don't get config.json")]);
  secrets = { ...secrets, WORD: 'second' };
  expect(Object.keys(await packed())).toEqual(['prompts/x.md']);
  expect(warnings).toHaveLength(2);
});

test('an edit counts, and files are not read again without one, nor twice in a second', async () => {
  const first = await bundle.latest();
  vi.advanceTimersByTime(5000);
  expect(await bundle.latest()).toBe(first);
  write('prompts/x.md', 'other');
  expect(await bundle.latest()).toBe(first);
  expect(await packed()).toEqual({ 'prompts/x.md': 'other' });
});

test('files that are too large are refused; later, workers keep what they had', async () => {
  const large = write('data/large.bin', '');
  truncateSync(large, 21 * 1024 * 1024);
  await expect(bundle.latest()).rejects.toMatchObject({
    code: 'bad-folder',
    message: expect.stringContaining('are 22 MiB; workers can get up to 20 MiB'),
    hint: expect.stringContaining('data/large.bin (21 MiB)'),
  });
  truncateSync(large, 0);
  const good = await packed();
  truncateSync(large, 21 * 1024 * 1024);
  expect(await packed()).toEqual(good);
  expect(await packed()).toEqual(good);
  expect(warnings).toEqual([expect.stringContaining('as they were before')]);
});
