import { expect, test } from 'vitest';
import { personProgram } from './person-program.ts';

test('W8 a program that is not installed is missing; a script that ends with the same code has failed', async () => {
  const run = personProgram({ cwd: '/', env: { PATH: process.env.PATH }, now: () => 0 });
  const place = { cwd: '/', env: {}, signal: new AbortController().signal };
  expect(await run({ ...place, file: 'nightshift-no-such-program', args: ['pr'] })).toEqual({ kind: 'missing' });
  const script = await run({ ...place, file: 'sh', args: ['-c', 'nightshift-no-such-program'] });
  expect(script).toMatchObject({ kind: 'exited', code: 127, stderr: expect.stringContaining('not found') });
});
