import { expect, test } from 'vitest';
import { howToGoOn, startAgain } from './command-line.ts';

test('M7 how to go on repeats what chose the part of the shift, as a shell reads it, and the limits', () => {
  expect(startAgain('night', { json: true, plain: true })).toBe('nightshift start night');
  const options = { task: 'work', rows: '3:', where: ["name=O'Neil & Co", 'city=Rome'], model: '-x', maxCost: '5' };
  const part =
    "nightshift start night --model='-x' --task work --rows 3: --where 'name=O'\\''Neil & Co' --where city=Rome";
  expect(startAgain('night', options)).toBe(part);
  expect(howToGoOn('night', options)).toBe(`\`${part} --max-cost 5\` goes on`);
  expect(howToGoOn('night', { sample: '3', seed: 's' })).toBe(
    '`nightshift start night --sample 3 --seed s` goes on, with a sample of what is left',
  );
});
