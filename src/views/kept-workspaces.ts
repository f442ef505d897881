import { count } from '../core/text/count.ts';
import { oneLine } from '../core/text/printable.ts';
import type { KeptWorkspaces } from '../core/workspace/kept.ts';
import { type ResultsPlace, resultsText } from '../core/workspace/results.ts';

/** Nothing is lost, so it has to be said where it is. During a run, most workspaces are at work. */
export function keptLines(shift: string, workspaces: KeptWorkspaces, isRunning = false): string[] {
  const { held } = workspaces;
  const kept = isRunning ? 0 : workspaces.kept;
  const it = (number: number) => (number === 1 ? 'it' : 'them');
  const waiting = `${count(held, 'result')} ${held === 1 ? 'waits' : 'wait'} for approval`;
  return [
    ...(held > 0 ? [`${waiting}: \`nightshift deliver ${shift}\` shows and sends ${it(held)}`] : []),
    ...(kept > 0 ? [`${count(kept, 'workspace')} kept: \`nightshift workspaces ${shift}\` lists ${it(kept)}`] : []),
  ];
}

/** One line if rows have workspaces. */
export function resultsLines(shift: string, results: ResultsPlace | null | undefined): string[] {
  return results ? [oneLine(resultsText(results, shift), 1000)] : [];
}
