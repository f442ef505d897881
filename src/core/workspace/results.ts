import { templateText } from '../language/template.ts';
import { branchOf, mergedBranch } from './branch-name.ts';
import type { DeliveryKind, WorkspaceKind, WorkspaceTemplate } from './plan.ts';

/** Where the results of a shift with workspaces go. Placeholders are as written. */
export interface ResultsPlace {
  readonly workspace: WorkspaceKind;
  readonly deliver: DeliveryKind;
  /** Of each row, whose name is `<row>`; absent for a copy. */
  readonly branch?: string;
  /** The branch that receives them. */
  readonly into?: string;
  /** A path, or `repo`; absent: each row names its own. */
  readonly repository?: string;
  readonly when: 'done' | 'approved';
  /** How many a run delivers; absent: all. */
  readonly most?: number;
}

/** `folder`: what workspaces are made of, if it is the same for all rows. */
export function resultsPlaceOf(
  { kind, delivery, ...workspace }: WorkspaceTemplate,
  { shift, folder }: { readonly shift: string; readonly folder: string | undefined },
): ResultsPlace {
  const into = delivery.into ? templateText(delivery.into) : undefined;
  const branch = workspace.branch ? templateText(workspace.branch) : branchOf(shift, '<row>');
  const repository = workspace.repo ? templateText(workspace.repo) : folder;
  return {
    workspace: kind,
    deliver: delivery.kind,
    ...(kind === 'copy' ? {} : { branch }),
    ...(delivery.kind === 'merge' ? { into: into ?? mergedBranch(shift) } : into !== undefined && { into }),
    ...(repository !== undefined && { repository }),
    when: delivery.when,
    ...(delivery.most !== undefined && { most: delivery.most }),
  };
}

/** One line for people. */
export function resultsText(place: ResultsPlace, shift: string): string {
  return `results: ${whereOf(place, shift)}${whenOf(place, shift)}`;
}

function whereOf(place: ResultsPlace, shift: string): string {
  const { workspace, deliver, branch, into } = place;
  const repository = place.repository ?? 'the repository of each row';
  const remote = workspace === 'clone' ? repository : `the remote of ${repository}`;
  switch (deliver) {
    case 'none':
      return `they stay in the ${workspace} of each row (\`deliver: none\`)`;
    case 'branch':
      return workspace === 'clone'
        ? `a branch ${branch} in the clone of each row`
        : `a branch ${branch} for each row, in ${repository}`;
    case 'merge':
      return `merged into ${into}, ${workspace === 'clone' ? 'on' : 'in'} ${repository}`;
    case 'push':
      return `a branch ${branch} for each row, pushed to ${remote}`;
    case 'pr':
      return `a pull request for each row, on ${remote}${into === undefined ? '' : `, into ${into}`}`;
    case 'patch':
      return `a patch for each row, in .nightshift/${shift}/patches`;
  }
}

function whenOf({ deliver, when, most }: ResultsPlace, shift: string): string {
  if (deliver === 'none') return '';
  if (when === 'approved') return `, once you approve them with \`nightshift deliver ${shift}\``;
  return most === undefined ? '' : `; at most ${most} in a run, \`nightshift deliver ${shift}\` sends the others`;
}
