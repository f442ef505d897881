import type { LessonMode } from '../../src/core/learning/policy.ts';
import { atMost, type Figure, misses, type Table } from '../figure.ts';
import type { Scenario } from './scenarios.ts';
import { type LearningTarget, type Played, percent, TARGETS } from './targets.ts';

interface Cell {
  readonly text: string;
  readonly isMissed: boolean;
}

/** Every target that these nights can show, with what each player reached. */
export function targetTable(played: readonly Played[]): Table {
  const players = [...new Set(played.map(({ player }) => player))];
  const reached = TARGETS.map((target) => ({
    target,
    cells: players.map((player) =>
      reachedBy(
        played.filter((each) => each.player === player),
        target,
      ),
    ),
  })).filter(({ cells }) => cells.some((cell) => cell !== undefined));
  return {
    header: ['lessons', 'scenario', 'figure', 'target', ...players],
    rows: reached.map(({ target: { of, what, target, show = percent }, cells }) => [
      ...[...of, what, target === undefined ? '' : `${target.is} ${show(target.ratio)}`],
      ...cells.map((cell) => cell?.text ?? ''),
    ]),
    missed: reached.flatMap(({ cells }) => cells).filter((cell) => cell?.isMissed).length,
  };
}

/** `played`: the nights of one player. */
function reachedBy(played: readonly Played[], wanted: LearningTarget): Cell | undefined {
  const find = (mode: LessonMode, scenario: Scenario) =>
    played.find((each) => each.mode === mode && each.scenario === scenario);
  const { of, value, target, show = percent } = wanted;
  const nights = find(...of);
  const found = nights && value(nights, find('off', 'good')!);
  if (found === undefined) return undefined;
  if (target === undefined) return { text: show(found), isMissed: false };
  const isMissed = misses(found, target);
  return { text: `${show(found)} ${isMissed ? 'missed' : 'met'}`, isMissed };
}

/** How many rows went another way with the engine than in the simulation of the same seeds. */
export function differingRows(engine: readonly Played[], simulated: readonly Played[]): Figure {
  const rowsOf = ({ nights }: Played) => nights.flatMap(({ rows }) => rows);
  const differing = engine.map((each) => {
    const same = simulated.find(({ mode, scenario }) => mode === each.mode && scenario === each.scenario)!;
    const expected = rowsOf(same);
    return rowsOf(each).filter((row, i) => row.done !== expected[i]!.done || row.attempts !== expected[i]!.attempts);
  });
  const [count, total] = [differing.flat().length, engine.flatMap(rowsOf).length];
  const what = 'rows that went another way with the engine than in the simulation of the same seeds';
  return { what, ours: `${count} of ${total}`, other: '', ratio: count, target: atMost(0) };
}
