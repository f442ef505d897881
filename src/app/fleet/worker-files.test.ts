import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { type Bundle, openBundle, packFiles } from '../../fleet/bundle.ts';
import { PROTOCOL, type SentOrder } from '../../fleet/protocol.ts';
import { removeFolder } from '../../workspace/remove-folder.ts';
import { type UsedFiles, WorkerFiles } from './worker-files.ts';

const sent = { protocol: PROTOCOL, id: '1', shift: { key: 'k', name: 'pages' }, needs: [] } as unknown as SentOrder;
const { signal } = new AbortController();

function packText(text: string): Promise<Bundle> {
  return packFiles([
    { path: 'prompts/deep/x.md', isProgram: false, bytes: Buffer.from(text) },
    { path: 'check', isProgram: true, bytes: Buffer.from('true') },
  ]);
}

/** A worker's folder, and a database with these bundles. */
function site(...bundles: Bundle[]) {
  const folder = mkdtempSync(join(tmpdir(), 'worker-files-'));
  onTestFinished(() => removeFolder(folder));
  const stored = new Map(bundles.map(({ hash, bytes }) => [hash, bytes]));
  const fetched: string[] = [];
  const files = new WorkerFiles(folder, async (_, hash) => {
    fetched.push(hash);
    return openBundle(stored.get(hash)!, hash);
  });
  const use = async ({ hash }: Bundle): Promise<UsedFiles> => {
    const used = await files.use(sent, hash, signal);
    if (!('folder' in used)) throw new Error(JSON.stringify(used));
    return used;
  };
  return { folder, files, stored, fetched, use };
}

function modeOf(file: string): number {
  return statSync(file).mode & 0o777;
}

test('a bundle is fetched once, and unpacked read-only', async () => {
  const bundle = await packText('text');
  const { use, fetched, folder: above } = site(bundle);
  const [{ folder }, other] = await Promise.all([use(bundle), use(bundle)]);
  expect(other.folder).toBe(folder);
  expect(fetched).toEqual([bundle.hash]);
  expect(readFileSync(join(folder, 'prompts/deep/x.md'), 'utf8')).toBe('text');
  const modes = ['.', 'prompts', 'prompts/deep', 'prompts/deep/x.md', 'check'].map((path) =>
    modeOf(join(folder, path)),
  );
  expect(modes).toEqual([0o555, 0o555, 0o555, 0o444, 0o555]);
  await removeFolder(above);
  expect(existsSync(above)).toBe(false);
});

test('altered bytes are refused, leave nothing behind, and are fetched again', async () => {
  const [bundle, evil] = [await packText('text'), await packText('evil')];
  const { folder, files, stored, use } = site(bundle);
  stored.set(bundle.hash, evil.bytes);
  const refused = await files.use(sent, bundle.hash, signal);
  expect(refused).toEqual({ refused: expect.stringContaining("don't match what the coordinator packed") });
  expect(readdirSync(folder)).toEqual([]);
  stored.set(bundle.hash, bundle.bytes);
  expect(readFileSync(join((await use(bundle)).folder, 'prompts/deep/x.md'), 'utf8')).toBe('text');
});

test('what an agent changes there does not count for the next order', async () => {
  const bundle = await packText('text');
  const { use, folder } = site(bundle);
  const first = await use(bundle);
  const file = join(first.folder, 'prompts/deep/x.md');
  chmodSync(file, 0o644);
  writeFileSync(file, 'evil');
  const next = await use(bundle);
  expect(readFileSync(join(next.folder, 'prompts/deep/x.md'), 'utf8')).toBe('text');
  // The first order may still use it.
  expect(readFileSync(file, 'utf8')).toBe('evil');
  first[Symbol.dispose]();
  await expect.poll(() => readdirSync(folder).map((name) => join(folder, name))).toEqual([next.folder]);
});

test('what an agent removes there is unpacked again', async () => {
  const bundle = await packText('text');
  const { use } = site(bundle);
  const first = await use(bundle);
  first[Symbol.dispose]();
  await removeFolder(first.folder);
  expect(readFileSync(join((await use(bundle)).folder, 'prompts/deep/x.md'), 'utf8')).toBe('text');
});

test('files of shifts that were not used for an hour are removed when those of another arrive', async () => {
  const [first, second] = [await packText('1'), await packText('2')];
  const { files, use, folder } = site(first, second);
  (await use(first))[Symbol.dispose]();
  const ofOther = { ...sent, shift: { key: 'other', name: 'other' } };
  vi.spyOn(performance, 'now').mockReturnValue(performance.now() + 61 * 60_000);
  onTestFinished(() => void vi.restoreAllMocks());
  const used = await files.use(ofOther, second.hash, signal);
  const kept = 'folder' in used && used.folder;
  await expect.poll(() => readdirSync(folder).map((name) => join(folder, name))).toEqual([kept]);
});

test('older files of a shift are removed when no order uses them', async () => {
  const [first, second, third] = [await packText('1'), await packText('2'), await packText('3')];
  const { use, folder } = site(first, second, third);
  const held = await use(first);
  (await use(second))[Symbol.dispose]();
  expect(existsSync(held.folder)).toBe(true);
  held[Symbol.dispose]();
  const last = await use(third);
  await expect.poll(() => readdirSync(folder).map((name) => join(folder, name))).toEqual([last.folder]);
});

test('an order that is withdrawn does not wait for its files', async () => {
  const files = new WorkerFiles('/nonexistent', () => new Promise(() => {}));
  await expect(files.use(sent, 'h', AbortSignal.abort())).rejects.toThrow('aborted');
});
