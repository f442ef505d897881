import { isHeldOut } from '../learning/holdout.ts';
import { lessonsIn } from '../learning/in-steps.ts';
import { fillLimits } from '../workspace/limit-globs.ts';
import { deliveryColumns, devOutputs } from '../workspace/outputs.ts';
import { fillWorkspace } from '../workspace/plan.ts';
import { itemKey } from './identity.ts';
import type { LocalOrder, Order, Settings, ShiftPlace } from './model.ts';
import { columnsNamed, fillCriteria, fillTask, type Shift, type Task, type TaskTemplate, valuesOf } from './shift.ts';

export interface OrderDetails {
  readonly role: 'dev' | 'qa';
  readonly item: Order['item'];
  readonly token: string;
  readonly key?: string;
  readonly lastFailure?: string | undefined;
  readonly checksPassed?: boolean;
  readonly isLastChance?: boolean;
  readonly retry?: Order['retry'] | undefined;
}

/** Everything that a worker needs to do or judge one item-task: plain JSON, without secrets and paths. */
export function makeOrder(shift: Shift, task: Task, details: OrderDetails): Order {
  const { role, token, lastFailure, checksPassed, isLastChance = false, retry } = details;
  const item = { ...details.item, metadata: knownBefore(shift, task, details.item.metadata) };
  const { template, version, ...lessons } = taught(shift, task, item.id);
  return {
    role,
    shift: { name: shift.name },
    task: task.name,
    version,
    item,
    token,
    key: details.key ?? itemKey(shift.identity, task.name, item.id),
    settings: role === 'qa' ? qaSettings(task.settings) : task.settings,
    secretNames: Object.keys(shift.secrets),
    template,
    ...workspaceOf(shift, task, details),
    ...(role === 'qa' ? namedOutputs(template, task.settings.outputs, details.item.metadata) : {}),
    ...lessons,
    ...(lastFailure === undefined ? {} : { lastFailure }),
    ...(checksPassed === undefined ? {} : { checksPassed }),
    ...(isLastChance ? { isLastChance } : {}),
    ...(retry === undefined ? {} : { retry }),
  };
}

/** The workspace of the row, if the task works in it. */
function workspaceOf(
  { workspace, tasks }: Shift,
  task: Task,
  { role, item }: OrderDetails,
): Pick<Order, 'workspace' | 'isLastInWorkspace' | 'deliveryOutputs'> {
  if (workspace === undefined || !task.hasWorkspace) return {};
  if (tasks.findLast(({ hasWorkspace }) => hasWorkspace)?.name !== task.name) return { workspace };
  const named = deliveryColumns(workspace.delivery);
  const outputs = task.settings.outputs.filter((name) => role === 'qa' && named.has(name));
  const values = Object.fromEntries(outputs.map((name) => [name, item.metadata[name] ?? '']));
  return { workspace, isLastInWorkspace: true, ...(outputs.length === 0 ? {} : { deliveryOutputs: values }) };
}

/** The task as this item gets it: with its lessons, or without them if the item is held out. */
function taught(shift: Shift, task: Task, item: string): Pick<Order, 'template' | 'version' | 'lessons' | 'isHeldOut'> {
  const { mode, holdout } = shift.settings.lessons;
  const { name, stepTexts, version, withoutLessons } = task;
  if (withoutLessons && isHeldOut(item, holdout)) {
    return { template: templateOf(withoutLessons), version: withoutLessons.version, isHeldOut: true };
  }
  const lessons = mode === 'off' ? [] : lessonsIn(shift.lessons.book, name, stepTexts);
  return { template: templateOf(task), version, ...(lessons.length === 0 ? {} : { lessons }) };
}

function templateOf({ workingDir, limitGlobs, document, steps, criteria }: TaskTemplate): TaskTemplate {
  return { workingDir, ...(limitGlobs && { limitGlobs }), document, steps, criteria };
}

/** Fills in the placeholders of an order on the machine that carries it out. */
export function localOrder({ template, workspace, ...order }: Order, place: ShiftPlace): LocalOrder {
  const { root, folder, table, mark } = place;
  const shift = { name: order.shift.name, root, folder, table, ...(mark === undefined ? {} : { mark }) };
  const values = valuesOf(shift, { ...order.item.metadata, ...(order.outputs ?? unknownOutputs(order.settings)) });
  const atDelivery = valuesOf(shift, { ...values.columns, ...order.deliveryOutputs });
  const { settings } = order;
  const { limitGlobs } = template;
  const limits = limitGlobs && { changeLimits: fillLimits(settings.changeLimits, limitGlobs, values) };
  return {
    ...order,
    shift,
    settings: { ...settings, ...limits },
    criterionTemplates: template.criteria,
    ...fillTask(template, values),
    ...(workspace === undefined ? {} : { workspace: fillWorkspace(workspace, atDelivery) }),
  };
}

/** The order of a dev, with criteria that name the outputs of its task filled in. */
export function withOutputs(order: LocalOrder, captured: Readonly<Record<string, string>>): LocalOrder {
  const { shift, item, criterionTemplates } = order;
  const outputs = devOutputs(order).flatMap((name) => (Object.hasOwn(captured, name) ? [[name, captured[name]!]] : []));
  const values = valuesOf(shift, { ...item.metadata, ...Object.fromEntries(outputs) });
  return { ...order, criteria: fillCriteria(criterionTemplates, values) };
}

/** Before the dev has reported them, outputs stand for themselves. */
function unknownOutputs({ outputs }: Settings): Record<string, string> {
  return Object.fromEntries(outputs.map((name) => [name, `{${name}}`]));
}

/** Absent if no criterion names one: a qa is told no more of what the dev reported (rule Q1). */
function namedOutputs(
  { criteria }: TaskTemplate,
  outputs: readonly string[],
  metadata: Order['item']['metadata'],
): Pick<Order, 'outputs'> {
  const named = columnsNamed(criteria);
  const values = outputs.filter((name) => named.has(name)).map((name) => [name, metadata[name] ?? '']);
  return values.length === 0 ? {} : { outputs: Object.fromEntries(values) };
}

/** An agent other than the dev's does not know the dev's model. */
export function qaSettings({ qaAgent, qaModel, model: devModel, ...settings }: Settings): Settings {
  const agent = qaAgent ?? settings.agent;
  const model = qaModel ?? (agent === settings.agent ? devModel : undefined);
  return { ...settings, agent, ...(model === undefined ? {} : { model }) };
}

/** Without the columns that this task and later ones fill: a qa is not told what the dev captured (rule Q1). */
function knownBefore(shift: Shift, task: Task, metadata: Order['item']['metadata']): Record<string, string> {
  const later = shift.tasks.slice(shift.tasks.indexOf(task)).flatMap(({ settings }) => settings.outputs);
  return Object.fromEntries(Object.entries(metadata).filter(([name]) => !later.includes(name)));
}

/** The criteria that an agent judges; if there are none, the checks are the verdict (rule X2). */
export function askedCriteria<T extends { readonly check?: unknown }>(judged: {
  readonly criteria: readonly T[];
  readonly settings: Pick<Settings, 'qa'>;
}): T[] {
  return judged.criteria.filter(({ check }) => check === undefined || judged.settings.qa === 'always');
}
