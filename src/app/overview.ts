import type { ShiftDescription } from '../core/folds/shift-status.ts';
import { findRoot, openShift } from '../store/folder/layout.ts';
import { describeShifts } from './describe-shift.ts';
import { findNext } from './next-command.ts';
import type { World } from './world.ts';

/** A command, and in a few words what it does. */
interface Suggestion {
  readonly command: string;
  readonly does: string;
}

interface Overview {
  readonly root: string | null;
  readonly shifts: readonly ShiftDescription[];
  readonly next: readonly Suggestion[];
}

const BEGIN: readonly Suggestion[] = [
  { command: 'nightshift demo', does: 'creates a small project and runs a shift over it' },
  { command: 'nightshift each FILE --do TEXT', does: 'makes a shift from a table and a sentence, and starts it' },
  { command: 'nightshift create NAME --from FILE', does: 'creates your own shift' },
];
const MOST_SUGGESTIONS = 4;

/** The shifts of the current project, and what to do next with each. */
export async function readOverview(world: World): Promise<Overview> {
  const root = findRoot(world.cwd);
  if (root === undefined) return { root: null, shifts: [], next: BEGIN };
  const shifts = await describeShifts(root, world.now());
  // What is finished can wait.
  const sorted = [...shifts.filter((shift) => !isFinished(shift)), ...shifts.filter(isFinished)];
  const first = sorted.slice(0, MOST_SUGGESTIONS);
  const next = await Promise.all(first.map((shift) => nextOf(world, root, shift)));
  return { root, shifts, next: shifts.length === 0 ? BEGIN : next };
}

function isFinished(shift: ShiftDescription): boolean {
  return 'counts' in shift && shift.counts.total > 0 && shift.counts.completed === shift.counts.total;
}

/** `archive` refuses a shift that has workspaces. */
function nextOfFinished({ name, workspaces: { held, kept } }: Exclude<ShiftDescription, { problem: string }>) {
  if (held > 0) return { command: `nightshift deliver ${name}`, does: 'shows and sends what waits for approval' };
  if (kept > 0)
    return { command: `nightshift workspaces ${name}`, does: 'lists its workspaces; `prune` removes what is safe' };
  return { command: `nightshift archive ${name}`, does: 'archives it: everything is done' };
}

async function nextOf(world: World, root: string, shift: ShiftDescription): Promise<Suggestion> {
  const { name } = shift;
  if ('problem' in shift) return { command: 'nightshift doctor', does: `says what to do about ${name}` };
  const { total, completed, remaining } = shift.counts;
  if (shift.running) return { command: `nightshift status ${name}`, does: 'shows its progress' };
  if (shift.hasOpenBatch) {
    return { command: `nightshift batch close ${name}`, does: 'closes the open batch when its items have ended' };
  }
  if (shift.tasks === 0) return { command: `nightshift add-task ${name} TASK`, does: 'adds a task' };
  if (total === 0) return { command: `nightshift table ${name} import FILE`, does: 'adds items' };
  if (completed === total) return nextOfFinished(shift);
  if (remaining === 0) {
    return { command: `nightshift status ${name}`, does: 'shows why items failed; `retry` retries them' };
  }
  // A run that was stopped continues within its limits.
  const next = await findNext(openShift(root, name), world);
  if (next?.does === 'continue') return { command: next.command, does: 'continues it' };
  return { command: `nightshift start ${name}`, does: next || completed > 0 ? 'continues it' : 'runs it' };
}
