import type { WorkspaceKind } from './plan.ts';
import type { SandboxMode } from './sandbox.ts';

/** What the agents and checks of some tasks can write, reach and see. */
export interface AgentAccess {
  readonly tasks: readonly string[];
  readonly sandbox: SandboxMode;
  /** Each row has its own; `none`: each session has an empty folder. Absent: all items share `folder`. */
  readonly workspace?: WorkspaceKind | 'none';
  /** `working-dir`; absent: each row names its own. */
  readonly folder?: string;
  /** They run on the workers of a fleet, as the users of those. */
  readonly isOnWorkers?: true;
}

/** One line for people. `tasks`: how many the run has in all. */
export function accessText(access: AgentAccess, tasks: number): string {
  const { sandbox } = access;
  const who = access.tasks.length === tasks ? 'agents' : `agents of ${access.tasks.join(', ')}`;
  if (sandbox === 'off') {
    const whose = access.isOnWorkers ? 'the users of the workers' : 'you';
    return `no sandbox: ${who} work in ${whereOf(access)}; they can write, see and reach all that ${whose} can`;
  }
  const network = sandbox === 'on' ? 'yes' : 'no';
  return (
    `sandbox: ${who} can write ${whereOf(access)} and a private /tmp; network: ${network}; ` +
    'they see the system and the project, not your home folder'
  );
}

function whereOf({ workspace, folder }: AgentAccess): string {
  if (workspace === 'none') return 'an empty folder of their own';
  if (workspace !== undefined) return `a ${workspace} for each row`;
  return folder ?? 'the working-dir of each row';
}

/** Tasks with the same access are told together. */
export function groupAccess(each: readonly AgentAccess[]): AgentAccess[] {
  const groups = new Map<string, AgentAccess>();
  for (const { tasks, ...same } of each) {
    const key = JSON.stringify(same);
    groups.set(key, { tasks: [...(groups.get(key)?.tasks ?? []), ...tasks], ...same });
  }
  return [...groups.values()];
}
