import type { WorkspaceTemplate } from '../workspace/plan.ts';
import type { Settings } from './model.ts';
import type { TaskTemplate } from './shift.ts';

/** What a worker fills in or starts for an item. */
interface WorkTexts {
  readonly template: TaskTemplate;
  readonly workspace?: WorkspaceTemplate | undefined;
  readonly settings: Pick<Settings, 'command' | 'acpCommand'>;
}

/** How scripts name the shift's folder without a placeholder. */
const FOLDER_VARIABLE = 'NIGHTSHIFT_SHIFT_DIR';

/** Whether the work on an item uses the shift's folder: `{SHIFT:FOLDER}`, or the variable of the same meaning. */
export function usesFolder(texts: WorkTexts): boolean {
  return has(workTexts(texts), (each) => isName(each, 'FOLDER') || isVariable(each));
}

/** Whether it uses `{SHIFT:TABLE}`. */
export function usesTable(texts: WorkTexts): boolean {
  return has(workTexts(texts), (each) => isName(each, 'TABLE'));
}

/** Without the delivery, which is no worker's. */
function workTexts({ template, workspace, settings }: WorkTexts): unknown {
  const { workingDir, limitGlobs, document, steps, criteria } = template;
  const { delivery: _, ...prepared } = workspace ?? {};
  return [workingDir, limitGlobs, document, steps, criteria, prepared, settings.command, settings.acpCommand];
}

function isName(value: unknown, name: string): boolean {
  const { kind, name: found } = Object(value) as { kind?: unknown; name?: unknown };
  return kind === 'shift' && found === name;
}

function isVariable(value: unknown): boolean {
  return typeof value === 'string' && value.includes(FOLDER_VARIABLE);
}

/** Templates are plain JSON: a placeholder may be at any depth. */
function has(value: unknown, isWanted: (each: unknown) => boolean): boolean {
  if (isWanted(value)) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some((each) => has(each, isWanted));
}
