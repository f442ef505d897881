import { relative } from 'node:path';
import { findTraits } from '../../core/model/agent-traits.ts';
import type { Shift } from '../../core/model/shift.ts';
import type { LimitSettings } from '../../core/schedule/budget.ts';
import type { Selection } from '../../core/schedule/selection.ts';
import { hasModel } from '../../engine/budget.ts';
import type { EachRequest } from '../../formats/each-task.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import type { World } from '../world.ts';

/** What `nightshift each` is asked for. */
export interface EachOptions extends Omit<EachRequest, 'isScript'> {
  /** Absent: the name that the items suggest. */
  readonly name?: string | undefined;
  readonly agent?: string | undefined;
  readonly model?: string | undefined;
  /** The program of the agents `command` and `acp`. */
  readonly command?: string | undefined;
  /** How many items run at once. */
  readonly parallel?: number | undefined;
  /** Of this run; they win over the manifest. */
  readonly limits: LimitSettings;
  /** Which rows this run covers. */
  readonly selection: Selection;
}

/** What there is, or will be once it is written. */
export interface EachPlan {
  readonly paths: ShiftPaths;
  readonly isNew: boolean;
  readonly rows: number;
  /** How many of the rows are new. */
  readonly added: number;
  /** How many rows have failed and wait for a retry. */
  readonly failed: number;
  /** How many files were left out because they are results of others. */
  readonly leftOut: number;
  /** Of the items, without statuses and outputs. */
  readonly columns: readonly string[];
  readonly request: EachRequest;
  /** The task file is written again, because something else is asked than last time. */
  readonly isRewritten: boolean;
  readonly agent: string;
  readonly model?: string | undefined;
  readonly hasModel: boolean;
  /** At most this many items at once. */
  readonly atOnce: number;
  readonly limits: LimitSettings;
  /** Overrides for the run: an existing manifest has its own agent. */
  readonly overrides: { readonly agent?: string | undefined; readonly model?: string | undefined };
  write(): Promise<void>;
}

/** With an agent that runs scripts, the text is a script. */
export function requestOf({ text, checks, outputs }: EachOptions, agent: string | undefined): EachRequest {
  return { text, checks, outputs, isScript: findTraits(agent ?? '')?.runsSteps === true };
}

export function whoWorks({ tasks: [task] }: Shift): Pick<EachPlan, 'agent' | 'hasModel'> {
  return { agent: task!.settings.agent, hasModel: hasModel(task!, findTraits) };
}

/** Where the agents work: where you are. In the project's folder itself that needs no setting. */
export function workingDir({ cwd }: World, { root }: ShiftPaths): string | undefined {
  const way = relative(root, cwd);
  return way === '' ? undefined : way.replace(/\{([^{}]+)\}/g, '{{$1}}');
}
