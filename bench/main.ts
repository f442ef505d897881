import { durableChange } from './durable-change.ts';
import { engineTime } from './engine-time.ts';
import { missedIn, renderMarkdown, renderPlain, type Section } from './figure.ts';
import { fleet } from './fleet.ts';
import { history } from './history.ts';
import { learning } from './learning/learning.ts';
import { SCENARIO_NAMES } from './learning/scenarios.ts';
import { learningTests } from './learning/tests.ts';
import { machine } from './machine.ts';
import { makespan } from './makespan.ts';
import { manyRows } from './many-rows.ts';
import { opencode } from './opencode.ts';
import { opencodeMemory } from './opencode-memory.ts';
import { realRun } from './real-run.ts';
import { startup } from './startup.ts';
import { view } from './view.ts';
import { workspace } from './workspace.ts';

const BENCHES: Readonly<Record<string, () => Promise<Section>>> = {
  engine: engineTime,
  change: durableChange,
  rows: manyRows,
  history,
  makespan,
  learning: () => learning(SCENARIO_NAMES),
  'learning-tests': learningTests,
  real: realRun,
  startup,
  view,
  workspace,
  fleet,
  opencode,
  'opencode-memory': opencodeMemory,
};
const PARTS: typeof BENCHES = Object.fromEntries(
  SCENARIO_NAMES.map((scenario) => [`learning:${scenario}`, () => learning([scenario])]),
);
const ALL = { ...BENCHES, ...PARTS };

const args = process.argv.slice(2);
const markdown = args.includes('--markdown');
const names = args.filter((arg) => arg !== '--markdown');
const unknown = names.filter((name) => !(name in ALL));
if (unknown.length > 0) {
  console.error(`no benchmark ${unknown.join(', ')}; there are: ${Object.keys(ALL).join(', ')}`);
  process.exit(2);
}

console.log(
  machine()
    .map((line) => (markdown ? `- ${line}` : line))
    .join('\n'),
  '\n',
);
let missed = 0;
for (const name of names.length > 0 ? names : Object.keys(BENCHES)) {
  const section = await ALL[name]!();
  missed += missedIn(section);
  console.log(markdown ? renderMarkdown(section) : renderPlain(section));
}
console.log(missed === 0 ? 'Every target was met.' : `Targets missed: ${missed}.`);
