import { resolveProse, resolveText } from '../../core/language/template.ts';
import type { LocalOrder } from '../../core/model/model.ts';
import { askedCriteria, localOrder, makeOrder } from '../../core/model/order.ts';
import type { Shift, Task } from '../../core/model/shift.ts';
import { handedDevPrompt, handedQaPrompt } from '../../roles/hand-prompt.ts';
import { type OpenItem, writePrompt } from '../../store/folder/batch-file.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';

/** What prompts are made from. */
export interface Desk {
  readonly paths: ShiftPaths;
  readonly shift: Shift;
  readonly task: Task;
}

interface PromptItem extends OpenItem {
  readonly metadata: Readonly<Record<string, string>>;
}

/** Next to the prompts: the environment for the shells of devs, for programs that read it from here. */
const ENVIRONMENT = 'environment.json';

export async function writeEnvironment({ paths, shift }: Pick<Desk, 'paths' | 'shift'>): Promise<void> {
  if (Object.keys(shift.secrets).length > 0) await writePrompt(paths, ENVIRONMENT, JSON.stringify(shift.secrets));
}

/**
 * `hasEnvironment`: the program that starts the agents puts the secrets into their shells. Otherwise the prompt carries
 * those that the task names.
 */
export async function writeDevPrompt(
  { paths, shift, task }: Desk,
  item: PromptItem,
  token: string,
  { hasEnvironment, lastFailure }: { readonly hasEnvironment: boolean; readonly lastFailure: string | undefined },
): Promise<string> {
  const order = localOrder(makeOrder(shift, task, { role: 'dev', item, key: item.key, token, lastFailure }), shift);
  const hasShell = task.settings.tools.includes('bash');
  const isThere = hasEnvironment && hasShell;
  const named = Object.entries(shift.secrets).filter(([name]) => task.text.includes(`{ENV:${name}}`));
  const variables = hasShell && !isThere && named.length > 0 ? Object.fromEntries(named) : undefined;
  const truthful = { ...inPlace(order, shift), secretNames: isThere ? order.secretNames : [] };
  const text = resolveProse(handedDevPrompt(truthful, token, variables), shift.secrets);
  return writePrompt(paths, promptName(item, 'dev'), text);
}

/** Written only when the dev has succeeded: until then the token of the qa does not exist. */
export async function writeQaPrompt({ paths, shift, task }: Desk, item: PromptItem, token: string): Promise<string> {
  const order = inPlace(localOrder(makeOrder(shift, task, { role: 'qa', item, key: item.key, token }), shift), shift);
  const texts = askedCriteria(order).map(({ text }) => text);
  return writePrompt(paths, promptName(item, 'qa'), resolveProse(handedQaPrompt(order, texts, token), shift.secrets));
}

/** An agent that is started elsewhere needs the whole path of its working folder. */
function inPlace(order: LocalOrder, { secrets }: Shift): LocalOrder {
  return { ...order, workingDir: [resolveText(order.workingDir, secrets)] };
}

export function promptName({ index }: Pick<OpenItem, 'index'>, role: 'dev' | 'qa'): string {
  return `row-${index + 1}-${role}.md`;
}
