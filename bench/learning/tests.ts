import { resolve } from 'node:path';
import { atLeast, type Figure, type Section } from '../figure.ts';
import { node } from '../measure.ts';

const VITEST = resolve('node_modules/vitest/vitest.mjs');
const AGENTS = ['--config', 'vitest.agents.config.ts'];

interface ShownByTest {
  readonly what: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const SHOWN_BY_TESTS: readonly ShownByTest[] = [
  {
    what: '500 foldings: only the Steps change, placeholders stay, within the budget, every version can be restored',
    args: ['test/engine/many-foldings.test.ts'],
  },
  {
    what: '50 times `kill -9` during folding: each lesson is applied once, none is lost',
    args: ['test/crash/folding.test.ts'],
    // It takes a third of them.
    env: { NIGHTSHIFT_KILLS: '150', NIGHTSHIFT_SEED: '1' },
  },
  {
    what: 'OpenCode, a batch of 4: one change, the next prompts have it, poison is held, what is blamed is retired',
    args: [...AGENTS, 'test/agents/opencode-lessons.test.ts'],
  },
];

/** The targets of learning that tests show. One after the other: they start many processes. */
export async function learningTests(): Promise<Section> {
  const figures: Figure[] = [];
  for (const shown of SHOWN_BY_TESTS) figures.push(await runTests(shown));
  return { title: 'Learning, shown by tests', figures };
}

/** Tests that could not start, since OpenCode can't be installed, say nothing. */
async function runTests({ what, args, env = {} }: ShownByTest): Promise<Figure> {
  const ended = await node([VITEST, 'run', '--reporter=json', ...args], { codes: [0, 1], env });
  const { numPassedTests: passed, numTotalTests: total } = readResult(ended.stdout);
  if (total === 0) return { what, ours: 'did not run', other: '', ratio: undefined, target: atLeast(1) };
  return { what, ours: `${passed} of ${total} tests`, other: '', ratio: passed / total, target: atLeast(1) };
}

/** Tests print, too; the result is the last line. */
function readResult(stdout: string): { readonly numPassedTests: number; readonly numTotalTests: number } {
  const line = stdout.trimEnd().split('\n').at(-1) ?? '';
  return line.startsWith('{') ? JSON.parse(line) : { numPassedTests: 0, numTotalTests: 0 };
}
