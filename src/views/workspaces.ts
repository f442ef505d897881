import type { WorkspaceList } from '../app/workspaces/list-workspaces.ts';
import type { PrunedWorkspace, PruneResult } from '../app/workspaces/prune-workspaces.ts';
import type { WorkspaceReport } from '../app/workspaces/report.ts';
import { count } from '../core/text/count.ts';
import { oneLine, printable } from '../core/text/printable.ts';
import type { ChangeCounts } from '../core/workspace/change.ts';
import { WORKSPACE_STATES } from '../core/workspace/state.ts';
import { rowName } from './row-name.ts';

/** How much of a commit is shown. */
const SHORT_COMMIT = 7;

const ROW_GONE = 'its row is gone';
const STATE_WORDS: Readonly<Record<string, string>> = { held: 'held for approval' };

export function workspaceLines({ shift, workspaces, removed }: WorkspaceList): string[] {
  const gone = removed === 0 ? [] : [`${count(removed, 'workspace')} delivered and removed`];
  if (workspaces.length === 0) return gone.length > 0 ? gone : [`${shift} has no workspaces.`];
  const counts = WORKSPACE_STATES.flatMap((state) => {
    const number = workspaces.filter((each) => each.state === state).length;
    return number === 0 ? [] : [`${number} ${STATE_WORDS[state] ?? state}`];
  });
  const total = sizeText(workspaces.reduce((sum, { bytes }) => sum + bytes, 0));
  return [
    ...workspaces.flatMap((each) => [
      `${nameOf(each)}: ${stateText(each)}; ${changeText(each.change)}; ${sizeText(each.bytes)}`,
      ...placeLines(each),
    ]),
    `${count(workspaces.length, 'workspace')}, ${total}: ${counts.join(', ')}`,
    ...gone,
  ];
}

/** The lines of `show`. */
export function workspaceOfRow(workspace: WorkspaceReport): string[] {
  const { delivery } = workspace;
  const more = [delivery?.url, delivery?.prState].flatMap((text) => (text === undefined ? [] : `, ${oneLine(text)}`));
  return [
    `workspace: ${stateText(workspace)}`,
    ...placeLines(workspace),
    `  change: ${changeText(workspace.change)}`,
    ...(delivery === undefined
      ? []
      : [
          `  delivery: ${oneLine(delivery.kind)}, ${delivery.state}, commit ${shortCommit(delivery.commit)}${more.join('')}`,
        ]),
  ];
}

export function pruneLines({ shift, workspaces, isDry }: PruneResult): string[] {
  if (workspaces.length === 0) return [`${shift} has no workspaces.`];
  const [removed, kept] = [true, false].map((isRemoved) => workspaces.filter((each) => each.isRemoved === isRemoved));
  const freed = sizeText(removed!.reduce((sum, { bytes }) => sum + bytes, 0));
  const verb = isDry ? 'would be removed' : 'removed';
  return [
    ...workspaces.map((each) => pruneLine(each, verb)),
    `${count(removed!.length, 'workspace')} ${verb} (${freed}), ${kept!.length} kept; branches with commits stay`,
  ];
}

function pruneLine(workspace: PrunedWorkspace, verb: string): string {
  const { row, isTest, isRemoved, because, folder } = workspace;
  const name = nameOf(workspace);
  const why = oneLine(because);
  const gone = row === null && !isTest ? `; ${ROW_GONE}` : '';
  return `${isRemoved ? verb : 'kept'}: ${name} (${why}${gone})${isRemoved ? '' : `: ${printable(folder)}`}`;
}

function nameOf({ row, name }: WorkspaceReport): string {
  return row === null ? oneLine(name, 60) : rowName({ row, label: name });
}

function stateText({ row, state, why }: WorkspaceReport): string {
  const word = STATE_WORDS[state] ?? state;
  const reason = why ?? (row === null ? ROW_GONE : undefined);
  return reason === undefined ? word : `${word}: ${oneLine(reason)}`;
}

function placeLines({ kind, folder, from, branch, base }: WorkspaceReport): string[] {
  const begin = base === null ? 'without a base' : `from ${shortCommit(base)}`;
  const origin = kind === 'copy' ? `copy of: ${printable(from)}` : `branch: ${printable(branch)}, ${begin}`;
  return [`  folder: ${printable(folder)}`, `  ${origin}`];
}

/** `3 files changed, +10 -2`. */
export function changeText(change: ChangeCounts | null): string {
  if (change === null) return 'change unknown';
  const { files, added, deleted, tooLarge } = change;
  if (files === 0) return 'nothing changed';
  const unread = tooLarge === undefined ? '' : `, ${tooLarge} too large to show`;
  return `${count(files, 'file')} changed, +${added} -${deleted}${unread}`;
}

function shortCommit(commit: string): string {
  return printable(commit).slice(0, SHORT_COMMIT);
}

function sizeText(bytes: number): string {
  if (bytes < 1e6) return `${Math.ceil(bytes / 1e3)} kB`;
  return bytes < 1e9 ? `${(bytes / 1e6).toFixed(1)} MB` : `${(bytes / 1e9).toFixed(1)} GB`;
}
