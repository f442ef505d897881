import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openBundle, packFiles } from './bundle.ts';

const files = [
  { path: 'prompts/b.md', isProgram: false, bytes: Buffer.from('Grüße\n') },
  { path: 'checks/a', isProgram: true, bytes: Buffer.from([0, 255, 10]) },
];

test('a bundle gives back the same files, and the same files make the same bundle', async () => {
  const bundle = await packFiles(files);
  expect(bundle.hash).toBe(createHash('sha256').update(bundle.bytes).digest('hex'));
  expect(await openBundle(bundle.bytes, bundle.hash)).toEqual([files[1], files[0]]);
  expect((await packFiles([...files].reverse())).hash).toBe(bundle.hash);
  expect((await packFiles([{ ...files[0]!, isProgram: true }, files[1]!])).hash).not.toBe(bundle.hash);
});

test('altered bytes are not opened', async () => {
  const { hash } = await packFiles(files);
  const other = await packFiles([{ ...files[0]!, bytes: Buffer.from('evil') }]);
  expect(await openBundle(other.bytes, hash)).toMatch(/don't match what the coordinator packed/);
});

test.each(['/etc/passwd', '../x', 'a/../../x', 'a/..', '.', '', 'a//b', './a', 'a/', 'a\0b'])(
  'a path that is not below the folder is refused: %j',
  async (path) => {
    const { hash, bytes } = await packFiles([...files, { path, isProgram: false, bytes: Buffer.from('x') }]);
    expect(await openBundle(bytes, hash)).toMatch(/would be outside its folder/);
  },
);

test.each([
  ['no gzip', Buffer.from('files')],
  ['no JSON', gzipSync('files')],
  ['another form', gzipSync('{"files":[{"path":"a"}]}')],
])('bytes with the right hash that are no bundle are refused: %s', async (_, bytes) => {
  const hash = createHash('sha256').update(bytes).digest('hex');
  expect(await openBundle(bytes, hash)).toBe("the files of its shift can't be unpacked");
});
