import { expect, test } from 'vitest';
import { commandAgain, howToGoOn, lastingFlags, retryLine } from './command-line.ts';

test('M7 how to go on repeats what chose the part of the shift, as a shell reads it, and the limits', () => {
  expect(commandAgain('start', 'night', { json: true, plain: true })()).toBe('nightshift start night');
  const options = { task: 'work', rows: '3:', where: ["name=O'Neil & Co", 'city=Rome'], model: '-x', maxCost: '5' };
  const part =
    "nightshift start night --model='-x' --task work --rows 3: --where 'name=O'\\''Neil & Co' --where city=Rome";
  const again = commandAgain('start', 'night', { ...options, until: '07:00' });
  expect(again()).toBe(`${part} --max-cost 5 --until 07:00`);
  expect(again({ key: 'max-cost', value: '10' })).toBe(`${part} --max-cost 10 --until 07:00`);
  expect(howToGoOn('night', lastingFlags(options))).toBe(`\`${part} --max-cost 5\` goes on`);
  expect(howToGoOn('night', lastingFlags({ sample: '3', seed: 's' }))).toBe(
    '`nightshift start night --sample 3 --seed s` goes on',
  );
  const lines = { where: ['note=one\ntwo'], json: true, detach: true };
  expect(howToGoOn('night', lastingFlags(lines))).toBe("`nightshift start night --where 'note=one\ntwo'` goes on");
});

test('M7 trying the failed ones again keeps the limits, and leaves alone what else is left', () => {
  const flags = lastingFlags({ rows: '3:', where: ['a=b'], sample: '3', seed: 's', maxCost: '5' });
  expect(retryLine('night', flags)).toBe('nightshift retry night --max-cost 5');
  expect(retryLine('night', flags, true)).toBe('nightshift retry night --max-cost 5 --only');
});

test('M7 of a run of which nothing is known, or something else, the whole shift is gone on with', () => {
  for (const flags of [undefined, [], ['; rm -rf /', '--json', 'x --rows=1']]) {
    expect(howToGoOn('night', flags)).toBe('`nightshift start night` goes on');
  }
});
