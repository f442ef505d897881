import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('X8 the picture in the README is what the live view draws of the recorded run', () => {
  const { status, stderr } = spawnSync(process.execPath, ['scripts/picture.mjs', '--check'], { encoding: 'utf8' });
  expect({ status, stderr: stderr.replace(/^\(.*\n/gm, '') }).toEqual({ status: 0, stderr: '' });
  const svg = readFileSync('docs/assets/demo.svg', 'utf8');
  expect(Buffer.byteLength(svg)).toBeLessThan(150_000);
  // GitHub shows it as an image: nothing in it runs, and nothing is loaded.
  expect(svg).not.toMatch(/<script|\bon[a-z]+=|@import|url\(|href="[^#]/);
});
