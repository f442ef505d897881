import { environmentNames, itemEnvironment, variablesToTell } from '../agents/environment.ts';
import { AgentSet } from '../agents/registry.ts';
import type { LocalOrder, Script, Text } from '../core/model/model.ts';
import { askedCriteria, localOrder, makeOrder } from '../core/model/order.ts';
import { RowLabels } from '../core/model/row-labels.ts';
import { branchOf, slugOf } from '../core/workspace/branch-name.ts';
import type { Overrides } from '../formats/compile.ts';
import { devPrompt, qaPrompt } from '../roles/prompt.ts';
import type { ShiftPaths } from '../store/folder/layout.ts';
import { findTask } from './find-task.ts';
import { readHistory } from './history.ts';
import { openAndCheck } from './open-shift.ts';
import { findRowIndex } from './rows.ts';
import { unprotectedFiles, unprotectedLine } from './run/unprotected-files.ts';
import type { World } from './world.ts';

export interface PreviewRequest extends Pick<Overrides, 'agent' | 'model'> {
  readonly task: string;
  /** 1-based. */
  readonly row: string;
}

export interface Preview {
  readonly order: LocalOrder;
  /** The agent of the qa. */
  readonly judge: string;
  readonly sent: Sent;
  readonly checks: readonly Script[];
  readonly environment: ReturnType<typeof environmentNames>;
  readonly warnings: readonly string[];
}

/** The scripts that run, or the prompts. */
type Sent =
  | { readonly scripts: readonly ({ readonly step: number } & Script)[] }
  | { readonly dev: string; readonly qa?: string };

/** What would be sent for one row, byte for byte except for secrets and the folder of its workspace. Writes nothing and starts no agent. */
export async function previewTask(world: World, paths: ShiftPaths, request: PreviewRequest): Promise<Preview> {
  const { row, agent, model } = request;
  const { shift, snapshot } = await openAndCheck(paths, { agent, model });
  const task = findTask(shift, request.task);
  const index = findRowIndex({ shift, snapshot }, row);
  const label = RowLabels.in(shift, snapshot)(index);
  const named = label === undefined ? {} : { label };
  const item = { id: snapshot.id(index), index, ...named, metadata: snapshot.metadata(index) };
  const lastFailure = (await readHistory(paths, world)).of(task.name, item.id)?.failure;
  const dev = inWorkspace(localOrder(makeOrder(shift, task, { role: 'dev', item, token: '', lastFailure }), shift));
  const qa = inWorkspace(localOrder(makeOrder(shift, task, { role: 'qa', item, token: '' }), shift));
  const unprotected = await unprotectedFiles(world, paths, { shift: { ...shift, tasks: [task] }, snapshot }, index);
  return {
    order: dev,
    judge: qa.settings.agent,
    ...sentFor(dev, qa, { caller: world.env, secrets: shift.secrets }),
    checks: dev.criteria.flatMap(({ check }) => (check ? [check] : [])),
    warnings: [...shift.warnings, ...unprotected.map(unprotectedLine)],
  };
}

/** The folder of a workspace is known once it is there. Its branch has another name only if two rows have one label. */
function inWorkspace(order: LocalOrder): LocalOrder {
  const { workspace, shift, item } = order;
  if (workspace === undefined) return order;
  const branch = workspace.branch ?? [branchOf(shift.name, slugOf(item.label ?? '', item.index + 1))];
  return { ...order, workingDir: ['(the workspace of this row)'], workspace: { ...workspace, branch } };
}

interface Surroundings {
  readonly caller: World['env'];
  readonly secrets: Readonly<Record<string, string>>;
}

function sentFor(
  dev: LocalOrder,
  qa: LocalOrder,
  { caller, secrets }: Surroundings,
): Pick<Preview, 'sent' | 'environment'> {
  const agent = new AgentSet().find(dev.settings.agent);
  const own = itemEnvironment(dev, 1, 'a file for captured values');
  const passEnv = [...(agent?.credentials ?? []), ...dev.settings.passEnv];
  const environment = environmentNames({ caller, passEnv, secrets, own });
  if (agent?.runsSteps) {
    const scripts = dev.steps.flatMap((step) => step.scripts.map((script) => ({ step: step.number, ...script })));
    return { sent: { scripts }, environment };
  }
  const variables = variablesToTell(agent, dev.settings.tools, own);
  const asked = askedCriteria(qa).map(({ text }) => text);
  const sent = {
    dev: masked(devPrompt(dev, { number: 1, ...variables })),
    ...(asked.length > 0 ? { qa: masked(qaPrompt(qa, asked)) } : {}),
  };
  return { sent, environment };
}

function masked(text: Text): string {
  return text.map((part) => (typeof part === 'string' ? part : `[${part.env}]`)).join('');
}
