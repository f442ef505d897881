import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { endMarked, findMarked } from './leftovers.ts';
import { tagProcess } from './process-tag.ts';

const shiftFolder = `/nowhere/leftovers-${process.pid}`;
const started: ChildProcess[] = [];

async function sleeper(env: Record<string, string>, script = 'exec sleep 300'): Promise<number> {
  const child = spawn('sh', ['-c', script], {
    env: { PATH: process.env.PATH!, ...env },
    stdio: 'ignore',
    detached: true,
  });
  started.push(child);
  await once(child, 'spawn');
  return child.pid!;
}

afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL');
});

test('R6 finds by shift and key, exactly', async () => {
  const one = await sleeper({ NIGHTSHIFT_SHIFT_DIR: shiftFolder, NIGHTSHIFT_KEY: 'k1' });
  const two = await sleeper({ NIGHTSHIFT_KEY: 'k2', OTHER: 'x', NIGHTSHIFT_SHIFT_DIR: shiftFolder });
  await sleeper({ NIGHTSHIFT_SHIFT_DIR: `${shiftFolder}-2`, NIGHTSHIFT_KEY: 'k1' });
  await sleeper({ X: `NIGHTSHIFT_SHIFT_DIR=${shiftFolder}`, NIGHTSHIFT_KEY: 'k1' });
  const sorted = (pids: number[]) => pids.toSorted((a, b) => a - b);
  expect(sorted(await findMarked({ shiftFolder }))).toEqual(sorted([one, two]));
  expect(await findMarked({ shiftFolder, key: 'k1' })).toEqual([one]);
  expect(await endMarked({ shiftFolder, key: 'k2' })).toBe(1);
  expect(await findMarked({ shiftFolder })).toEqual([one]);
});

test('R6 Q3 a qa that is ended does not take along the dev of its item, who may be waiting for the verdict', async () => {
  const item = { NIGHTSHIFT_SHIFT_DIR: shiftFolder, NIGHTSHIFT_KEY: 'k1' };
  const dev = await sleeper({ ...item, NIGHTSHIFT_ROLE: 'dev' });
  const qa = await sleeper({ ...item, NIGHTSHIFT_ROLE: 'qa' });
  expect(await findMarked({ shiftFolder, key: 'k1', role: 'qa' })).toEqual([qa]);
  expect(await endMarked({ shiftFolder, key: 'k1', role: 'qa' })).toBe(1);
  expect(await findMarked({ shiftFolder, key: 'k1' })).toEqual([dev]);
});

test('R6 ends what goes on forking and ignores every signal that can be ignored', async () => {
  const fork = 'trap "" TERM HUP INT; while :; do sleep 0.05 & sleep 0.01; done';
  await sleeper({ NIGHTSHIFT_SHIFT_DIR: shiftFolder, NIGHTSHIFT_KEY: 'k1' }, fork);
  expect(await endMarked({ shiftFolder })).toBeGreaterThan(0);
  expect(await findMarked({ shiftFolder })).toEqual([]);
});

test('R6 never this process nor its ancestors, though they carry the mark', async () => {
  const program = `
    import { endMarked } from '${resolve('dist/agents/process/leftovers.js')}';
    console.log(await endMarked({ shiftFolder: '${shiftFolder}' }));`;
  const { stdout, status } = spawnSync(
    'sh',
    ['-c', 'sleep 300 & "$1" --input-type=module -e "$2"; echo alive', 'sh', process.execPath, program],
    {
      env: { PATH: process.env.PATH!, NIGHTSHIFT_SHIFT_DIR: shiftFolder, NIGHTSHIFT_KEY: 'k1' },
      encoding: 'utf8',
    },
  );
  expect({ stdout, status }).toEqual({ stdout: '1\nalive\n', status: 0 });
});

test('R6 finds by the tag in its limits what has no environment any more', async () => {
  const env = { NIGHTSHIFT_SHIFT_DIR: shiftFolder, NIGHTSHIFT_KEY: 'k1' };
  const bare = await sleeper({}, 'exec env -i sleep 300');
  expect(await findMarked({ shiftFolder })).toEqual([]);
  expect(tagProcess(bare, env)).toBeDefined();
  expect(await findMarked({ shiftFolder })).toEqual([bare]);
  expect(await findMarked({ shiftFolder: `${shiftFolder}-2` })).toEqual([]);
  expect(await endMarked({ shiftFolder })).toBe(1);
});
