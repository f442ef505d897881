import { NightshiftError } from '../core/model/errors.ts';
import { whyUndeliverable } from '../core/workspace/delivery.ts';
import { withoutLogin } from '../core/workspace/login.ts';
import { DELIVERY_OUTPUTS, isFilledBy } from '../core/workspace/outputs.ts';
import { DELIVERY_KINDS, type DeliveryKind, WORKSPACE_KINDS, type WorkspaceKind } from '../core/workspace/plan.ts';
import { CHANGE_KEYS, oneOf } from './change-settings.ts';
import { badSetting, type Configured, type LookUp, lookUpIn } from './look-up.ts';
import { isOff, WORKSPACE_KEYS, WORKSPACE_SHIFT_KEYS } from './settings.ts';

/** Which workspace the rows of a shift get. */
export interface WorkspacePlan {
  readonly kind: WorkspaceKind;
  readonly deliver: DeliveryKind;
  /** The tasks that work in it, in Task Order. */
  readonly tasks: readonly string[];
  /** What these tasks agree on. */
  readonly lookUp: LookUp;
}

type ConfiguredTask = Configured & { readonly name: string };

/** Undefined: all tasks work in `working-dir` itself. Adds a warning for each setting without effect. */
export function planWorkspace(
  tasks: readonly ConfiguredTask[],
  shift: Configured,
  warnings: string[],
): WorkspacePlan | undefined {
  for (const configured of [shift, ...tasks]) refuseOlderKey(configured);
  const isMember = (task: ConfiguredTask) => !isWithout(kindOf(lookUpIn(task, shift)));
  const members = tasks.filter(isMember);
  for (const task of tasks) if (!isMember(task)) refuseWithout(task, warnings);
  const [first] = members;
  if (first === undefined) {
    // `workspace: worktree` of a shift whose tasks all say `shared`, or none that are written yet.
    if (isWithout(kindOf(lookUpIn(shift)))) refuseWithout(shift, warnings);
    return undefined;
  }
  const lookUp = lookUpIn(first, shift);
  for (const member of members) oneOf(lookUpIn(member, shift), 'deliver', DELIVERY_KINDS);
  for (const other of members) refuseDisagreement(first, other, shift);
  const kind = kindOf(lookUp) as WorkspaceKind;
  const deliver = oneOf(lookUp, 'deliver', DELIVERY_KINDS) ?? 'none';
  refuseUnfit({ kind, deliver, lookUp });
  warnings.push(...unusedSettings({ kind, deliver, lookUp }));
  return { kind, deliver, lookUp, tasks: members.map(({ name }) => name) };
}

function kindOf(lookUp: LookUp): (typeof WORKSPACE_KINDS)[number] {
  return oneOf(lookUp, 'workspace', WORKSPACE_KINDS) ?? 'shared';
}

function isWithout(kind: ReturnType<typeof kindOf>): boolean {
  return kind === 'shared' || kind === 'none';
}

/** `worktree: true` never had an effect. */
function refuseOlderKey(configured: Configured): void {
  const found = lookUpIn(configured)('worktree');
  if (found === undefined || isOff(found.setting.value)) return;
  throw badSetting(found, 'is not a setting any more', 'write `- workspace: worktree`');
}

/** Settings that would silently do nothing, although the result depends on them. */
const NEED_WORKSPACE: readonly string[] = ['repo', 'setup', 'deliver', ...CHANGE_KEYS];

/** Without a workspace. */
function refuseWithout(configured: Configured, warnings: string[]): void {
  const lookUp = lookUpIn(configured);
  const isSet = (key: string) => {
    const { value = '', blocks = [] } = lookUp(key)?.setting ?? {};
    return (value !== '' || blocks.length > 0) && !(key === 'deliver' && value === 'none');
  };
  oneOf(lookUp, 'deliver', DELIVERY_KINDS);
  const needy = NEED_WORKSPACE.find(isSet);
  if (needy !== undefined) {
    const kind = needy === 'repo' ? 'clone' : 'worktree';
    throw badSetting(lookUp(needy)!, 'needs a workspace', `add \`- workspace: ${kind}\`, or remove the line`);
  }
  const keys: readonly string[] = [...WORKSPACE_KEYS, ...WORKSPACE_SHIFT_KEYS];
  for (const key of keys) {
    if (key !== 'workspace' && key !== 'deliver' && isSet(key)) warnings.push(noEffect(lookUp, key, 'a workspace'));
  }
}

function noEffect(lookUp: LookUp, key: string, needed: string): string {
  const { setting, file } = lookUp(key)!;
  return `\`${key}\` has no effect without ${needed} (${file} line ${setting.line})`;
}

/** All tasks of a row work in one workspace, one after the other. */
function refuseDisagreement(first: ConfiguredTask, other: ConfiguredTask, shift: Configured): void {
  const [one, two] = [lookUpIn(first, shift), lookUpIn(other, shift)];
  const keys: readonly string[] = kindOf(one) === 'copy' ? [...WORKSPACE_KEYS, 'working-dir'] : WORKSPACE_KEYS;
  const key = keys.find((each) => textOf(one, each) !== textOf(two, each));
  if (key === undefined) return;
  const told = (lookUp: LookUp) => {
    const found = lookUp(key)?.setting;
    return found === undefined ? 'not set' : found.value === '' ? 'another block' : `\`${withoutLogin(found.value)}\``;
  };
  const message = `\`${key}\` is ${told(one)} for ${first.name} and ${told(two)} for ${other.name}, in one workspace`;
  const hint = 'set it once, in the Shift Configuration of manager.md, or give one task `workspace: shared`';
  const { file, setting } = (lookUpIn(other)(key) ?? lookUpIn(first)(key))!;
  throw new NightshiftError('bad-task', message, hint, { file, line: setting.line });
}

/** What a setting says, to compare it. */
function textOf(lookUp: LookUp, key: string): string {
  const { value = '', blocks = [] } = lookUp(key)?.setting ?? {};
  return [value, ...blocks.map(({ info, code }) => `${info} ${code}`)].join('\n');
}

type Choice = Pick<WorkspacePlan, 'kind' | 'deliver' | 'lookUp'>;

/** Settings that contradict each other. */
function refuseUnfit({ kind, deliver, lookUp }: Choice): void {
  const set = (key: string) => (lookUp(key)?.setting.value ? lookUp(key) : undefined);
  const repo = set('repo');
  if (kind === 'clone' && repo === undefined) {
    throw badSetting(lookUp('workspace')!, 'needs `repo`', 'add `- repo: URL`; it may have placeholders');
  }
  if (kind !== 'clone' && repo !== undefined) {
    throw badSetting(repo, 'needs `workspace: clone`', `a ${kind} is made of \`working-dir\`; remove the line`);
  }
  const into = set('into');
  if (into !== undefined && deliver !== 'merge' && deliver !== 'pr') {
    throw badSetting(
      into,
      `has no meaning with \`deliver: ${deliver}\``,
      'it is for `deliver: merge` and `deliver: pr`',
    );
  }
  if (kind !== 'copy') return;
  const isPossible = whyUndeliverable(kind, deliver) === undefined;
  const ofGit = set('base') ?? set('branch') ?? (isPossible ? undefined : set('deliver'));
  if (ofGit === undefined) return;
  const hint = 'use `workspace: worktree` or `clone`, or `deliver: patch`';
  throw badSetting(ofGit, 'needs a git repository, and `workspace: copy` has none', hint);
}

function unusedSettings({ kind, deliver, lookUp }: Choice): string[] {
  const ofDelivery = ['deliver-when', 'author', 'message', 'max-deliveries'];
  const ofRequest = ['pr-title', 'pr-body', 'pr-command'];
  const isSet = (key: string) => lookUp(key) !== undefined && textOf(lookUp, key) !== '';
  return [
    ...(kind === 'copy' ? ['include'] : []).filter(isSet).map((key) => noEffect(lookUp, key, 'a git repository')),
    ...(deliver === 'none' ? ofDelivery : []).filter(isSet).map((key) => noEffect(lookUp, key, '`deliver`')),
    ...(deliver === 'pr' ? [] : ofRequest).filter(isSet).map((key) => noEffect(lookUp, key, '`deliver: pr`')),
  ];
}

/**
 * The outputs that the delivery fills. Only the last task in the workspace may name them. `place`: where a task
 * declares its outputs.
 */
export function deliveredOutputs(
  { tasks, deliver }: WorkspacePlan,
  outputs: ReadonlyMap<string, readonly string[]>,
  place: (task: string) => { readonly file: string; readonly line: number },
): string[] {
  if (deliver === 'none') return [];
  const last = tasks.at(-1)!;
  const named = (task: string) => DELIVERY_OUTPUTS.filter((name) => outputs.get(task)?.includes(name));
  for (const task of tasks) {
    const [early] = named(task);
    if (task === last || early === undefined) continue;
    const message = `the output ${early} of ${task} is known only after ${last}, the last task in the workspace`;
    throw new NightshiftError('bad-task', message, `move it to the \`outputs\` of ${last}`, place(task));
  }
  const unknown = named(last).find((name) => !isFilledBy(name, deliver));
  if (unknown === undefined) return named(last);
  const message = `the output ${unknown} is only known with \`deliver: pr\``;
  throw new NightshiftError(
    'bad-task',
    message,
    `remove it from \`outputs\`; this is \`deliver: ${deliver}\``,
    place(last),
  );
}
