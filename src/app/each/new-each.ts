import { AgentSet } from '../../agents/registry.ts';
import { findTraits } from '../../core/model/agent-traits.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import type { Shift } from '../../core/model/shift.ts';
import type { LimitSettings } from '../../core/schedule/budget.ts';
import { compileShift } from '../../formats/compile.ts';
import { createEachTask, EACH_TASK } from '../../formats/each-task.ts';
import { parseManager } from '../../formats/manager.ts';
import { parseTask } from '../../formats/task.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { createShift, type NewShift, newShiftFiles } from '../../store/folder/new-shift.ts';
import { requireAgents } from '../run/plan-run.ts';
import type { World } from '../world.ts';
import { checkRequest } from './check-request.ts';
import { checkSelection } from './check-selection.ts';
import { type EachOptions, type EachPlan, requestOf, whoWorks, workingDir } from './each-plan.ts';
import type { EachItems } from './items-for-each.ts';

/** A shift that is not there yet. */
export async function planNew(
  world: World,
  paths: ShiftPaths,
  items: EachItems,
  options: EachOptions,
): Promise<EachPlan> {
  const { table, none, hint, leftOut } = items;
  if (table.rowCount === 0) throw new NightshiftError('nothing-to-do', none, hint);
  const { agent, model, parallel = 1, limits, selection } = options;
  const request = requestOf(options, agent);
  checkRequest(request, table.header, new Set());
  const made: NewShift = {
    name: paths.name,
    created: new Date(world.now()).toISOString().slice(0, 10),
    parallel: parallel > 1,
    batchSize: parallel,
    settings: settingsOf(options, workingDir(world, paths)),
    items: table,
    tasks: { [EACH_TASK]: createEachTask(request) },
  };
  const shift = compileNew(paths, made, limits);
  checkSelection(selection, newShiftFiles(made).table, paths.table);
  await requireAgent(shift, world);
  return {
    ...{ leftOut, failed: 0 },
    ...{ paths, isNew: true, rows: table.rowCount, added: table.rowCount, request, isRewritten: false, model, limits },
    columns: table.header.filter((name) => !request.outputs.includes(name)),
    ...whoWorks(shift),
    atOnce: parallel,
    overrides: {},
    write: async () => {
      await createShift(paths.root, made);
    },
  };
}

function settingsOf({ agent, model, command }: EachOptions, place: string | undefined): Record<string, string> {
  const key = agent === undefined ? undefined : findTraits(agent)?.needs;
  if (command !== undefined && key === undefined) {
    const hint = 'with --agent command or --agent acp it names the program';
    throw new NightshiftError('usage', `--command is not for the agent ${agent ?? 'opencode'}`, hint);
  }
  if (command === undefined && key !== undefined) {
    throw new NightshiftError('usage', `--agent ${agent} needs a program`, 'name it: --command "./my-agent --flag"');
  }
  const settings = { agent, model, [key ?? 'command']: command, 'working-dir': place };
  const given = Object.entries(settings).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
  return Object.fromEntries(given);
}

/** Without a place: the file is not there yet. */
async function requireAgent(shift: Shift, world: World): Promise<void> {
  await using agents = new AgentSet();
  try {
    await requireAgents(shift, agents, world);
  } catch (error) {
    if (!(error instanceof NightshiftError) || error.code !== 'agent-missing') throw error;
    const message = `the agent ${whoWorks(shift).agent} can't be started; --agent chooses another one`;
    throw new NightshiftError(error.code, message, error.hint);
  }
}

/** Reads the files back as a run would, so that what can't work is never written. */
function compileNew(paths: ShiftPaths, made: NewShift, limits: LimitSettings): Shift {
  const { manager: text, table, tasks } = newShiftFiles(made);
  const manager = parseManager(text, paths.manager);
  for (const [key, value] of Object.entries(made.settings)) {
    if (manager.settings.find((setting) => setting.key === key)?.value === value) continue;
    throw new NightshiftError(
      'usage',
      `\`${key}\` can't have this value: ${JSON.stringify(value)}`,
      'write it on one line',
    );
  }
  const documents = {
    ...{ name: paths.name, root: paths.root, folder: paths.folder, table: paths.table },
    ...{ managerFile: paths.manager, manager, secrets: new Map<string, string>() },
    tasks: Object.entries(tasks).map(([name, task]) => {
      const file = paths.task(name);
      return { name, file, document: parseTask(task, file) };
    }),
  };
  return compileShift(documents, table.header, { limits });
}
