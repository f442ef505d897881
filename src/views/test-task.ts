import type { Outcome, Usage } from '../core/model/model.ts';
import { count } from '../core/text/count.ts';
import { oneLine, printable } from '../core/text/printable.ts';
import { rowName } from './row-name.ts';
import { usageText } from './summary.ts';

interface Tested {
  readonly task: string;
  readonly index: number;
  readonly label: string | undefined;
  readonly dev: Outcome;
  /** Of the qa, or of a dev that never got that far. */
  readonly last: Outcome;
  readonly usage: Usage;
  /** Where the agent worked, if the task has a workspace; `after`: the task whose result it started with. */
  readonly workspace: { readonly folder: string; readonly after?: string } | undefined;
  readonly shift: string;
}

/** How one row would have ended. */
export function testLines({ shift, task, index, label, dev, last, usage, workspace }: Tested): string[] {
  const end = last.to === 'done' ? 'would be done' : last.to === 'failed' ? 'would be failed' : 'was not finished';
  const cost = usageText(usage);
  return [
    `${rowName({ row: index + 1, label })}: ${task} ${end} (${count(dev.attempts, 'attempt')})`,
    ...(last.reason === undefined ? [] : [`  ${oneLine(last.reason, 1000)}`]),
    ...(last.trouble?.remedy === undefined ? [] : [`  ${oneLine(last.trouble.remedy, 1000)}`]),
    ...Object.entries(dev.captured).map(([name, value]) => `  captured ${name}=${oneLine(value)}`),
    ...dev.recommendations.map((text) => `  recommends: ${oneLine(text)}`),
    ...(workspace?.after === undefined ? [] : [`It started with the result of ${workspace.after}.`]),
    `The table and manager.md are unchanged; what the agent did to files is ${workspace === undefined ? 'real' : `in ${printable(workspace.folder)}`}.`,
    ...(workspace === undefined ? [] : [`\`nightshift workspaces ${shift} prune\` removes it.`]),
    ...(cost === undefined ? [] : [`this try: ${cost}`]),
  ];
}
