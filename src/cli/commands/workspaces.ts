import { requireRoot, type ShiftPaths, shiftNames } from '../../app/find-shift.ts';
import { listWorkspaces } from '../../app/workspaces/list-workspaces.ts';
import { type PruneOptions, pruneWorkspaces } from '../../app/workspaces/prune-workspaces.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { pruneLines, workspaceLines } from '../../views/workspaces.ts';
import { chooseShift } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, given: readonly string[], options: Options): Promise<number> {
  const { name, isPrune } = readArguments(io, given, options);
  const paths = await chooseShift(io, name);
  const { dryRun: isDry = false, forceRow: forced = [], json } = options;
  const told = isPrune ? await prune(io, paths, { isDry, forced }) : await list(io, paths);
  for (const warning of told.result.warnings) io.warn(`warning: ${warning}`);
  if (json) io.print(JSON.stringify(told.result));
  else for (const line of told.lines) io.print(line);
  return EXIT.done;
}

async function list(io: Io, paths: ShiftPaths) {
  const result = await listWorkspaces(io, paths);
  return { result, lines: workspaceLines(result) };
}

async function prune(io: Io, paths: ShiftPaths, options: PruneOptions) {
  const result = await pruneWorkspaces(io, paths, options);
  return { result, lines: pruneLines(result) };
}

/** `workspaces SHIFT [prune]`, in any order, or `workspaces [prune]` for the only shift. */
function readArguments(io: Io, given: readonly string[], { dryRun, forceRow }: Options) {
  requireRoot(io);
  const isTurned = given[0] === 'prune' && given[1] !== undefined && !shiftNames(io).includes('prune');
  const [first, second] = isTurned ? given.toReversed() : given;
  const isNamed = first !== undefined && (first !== 'prune' || shiftNames(io).includes(first));
  const verb = isNamed ? second : first;
  if (verb !== undefined && verb !== 'prune') {
    throw new NightshiftError('usage', `there is no verb ${JSON.stringify(verb)}`, 'the verb is: prune');
  }
  if (verb === undefined && (dryRun || forceRow)) {
    const flag = dryRun ? '--dry-run' : '--force-row';
    throw new NightshiftError('usage', `${flag} is only for prune`, 'write `nightshift workspaces SHIFT prune`');
  }
  return { ...(isNamed ? { name: first } : {}), isPrune: verb === 'prune' };
}
