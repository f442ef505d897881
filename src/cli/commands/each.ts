import { relative } from 'node:path';
import { readEachItems } from '../../app/each/items-for-each.ts';
import { planEach } from '../../app/each/plan-each.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { eachLines } from '../../views/each.ts';
import type { Io } from '../io.ts';
import { readLimitFlags } from '../limit-flags.ts';
import type { Options } from '../program.ts';
import { readSelectionFlags } from '../selection-flags.ts';
import { run as start } from './start.ts';

/** Makes a shift, or adds to the one that an earlier call made, and starts it. */
export async function run(io: Io, files: readonly string[], options: Options): Promise<number> {
  const { do: text, check: checks = [], out: outputs = [], glob, name, agent, model, command, json } = options;
  const parallel = readParallel(options.parallel);
  const limits = readLimitFlags(options);
  const selection = readSelectionFlags(options);
  const items = await readEachItems(io, { files, glob, texts: [text, ...checks], readInput: io.readInput });
  const request = { name, text, checks, outputs, agent, model, command, parallel, limits, selection };
  const plan = await planEach(io, items, request);
  const folder = relative(io.cwd, plan.paths.folder);
  if (options.dryRun) {
    const { write: _, overrides: __, paths, ...facts } = plan;
    if (json) io.print(JSON.stringify({ shift: paths.name, folder: paths.folder, ...facts }));
    else for (const line of [...eachLines(plan, folder), NOTHING_DONE]) io.print(line);
    return EXIT.done;
  }
  await plan.write();
  if (!json) for (const line of eachLines(plan, folder)) io.print(line);
  return start(io, [plan.paths.name], { ...startOptions(options), ...plan.overrides });
}

const NOTHING_DONE = 'Nothing was written and no agent was started.';

/** What the manifest has now is not an option of the run. */
function startOptions(options: Options): Options {
  const own = ['do', 'check', 'out', 'glob', 'name', 'parallel', 'agent', 'model', 'command'];
  return Object.fromEntries(Object.entries(options).filter(([name]) => !own.includes(name)));
}

const MOST_AT_ONCE = 1000;

function readParallel(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const number = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= MOST_AT_ONCE) return number;
  const hint = `write a number from 1 to ${MOST_AT_ONCE}: --parallel 4`;
  throw new NightshiftError('usage', `--parallel ${JSON.stringify(text)} is not a number of rows`, hint);
}
