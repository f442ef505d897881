import { expect, test } from 'vitest';
import { SimulatedShift } from '../kit/simulated-shift.ts';

const newShift = (dispatch: string, refusedWrites: number) =>
  new SimulatedShift({
    rows: 2,
    settings: { parallel: true, 'max-batch-size': 2, 'current-batch-size': 2, dispatch },
    play: ({ role }) => (role === 'dev' ? { ms: 5, recommendations: ['Look twice'] } : { ms: 1 }),
    refusedWrites,
  });

const warningsOf = ({ events }: { readonly events: readonly { type: string; message?: string }[] }) =>
  events.flatMap(({ type, message }) => (type === 'run:warning' ? [message] : []));

test.each(['batch', 'stream'])('P8 L2 what could not be folded is folded before a %s ends', async (dispatch) => {
  const shift = newShift(dispatch, 3);
  const run = await shift.run();
  expect(run.end?.exitCode).toBe(0);
  expect(warningsOf(run)).toEqual([]);
  expect(shift.lessons).toMatchObject([{ state: 'firm', inSteps: true, support: [{ row: 1 }, { row: 2 }] }]);
  expect(shift.text('make')).toContain('2. Look twice');
});

test.each(['batch', 'stream'])(
  'P8 L2 at the end of a %s one warning says what could not be folded',
  async (dispatch) => {
    const shift = newShift(dispatch, 100);
    const run = await shift.run();
    expect(run.end?.exitCode).toBe(0);
    expect(warningsOf(run)).toEqual([
      'lessons of make: the latest reports could not be folded: a file was edited again and again; the next run with items to do folds them',
    ]);
    expect(run.history.unsettled('make').size).toBe(2);
  },
);
