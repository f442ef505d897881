import type { DeliveryKind, WorkspaceKind } from './plan.ts';
import type { DeliveryValues } from './workspaces.ts';

export const NO_VALUES: DeliveryValues = { branch: '', commit: '', pr_url: '', pr_state: '' };

export const KEY_TRAILER = 'Nightshift-Key';

/** A paragraph of `Name: value` lines. */
const TRAILERS = /^(?:[A-Za-z][\w-]*: .*(?:\n|$))+$/;

/** The message of a commit with the key of its item, by which it is found again after a crash. */
export function withKey(message: string, key: string): string {
  const paragraphs = message.trim().split(/\n\s*\n/);
  const last = paragraphs.at(-1) ?? '';
  const separator = paragraphs.length > 1 && TRAILERS.test(last) ? '\n' : '\n\n';
  return `${message.trim() || 'Nightshift'}${separator}${KEY_TRAILER}: ${key}\n`;
}

/** The key that a commit message carries. */
export function keyIn(message: string): string | undefined {
  return message
    .split('\n')
    .findLast((line) => line.startsWith(`${KEY_TRAILER}: `))
    ?.slice(KEY_TRAILER.length + 2)
    .trim();
}

/** Why a workspace of this kind can't be delivered this way. */
export function whyUndeliverable(workspace: WorkspaceKind, delivery: DeliveryKind): string | undefined {
  if (workspace !== 'copy' || delivery === 'none' || delivery === 'patch') return undefined;
  return `a copy of a folder has no repository for \`deliver: ${delivery}\`; use \`deliver: patch\``;
}

/** Whether the workspace may go once it is delivered: the branch of a clone is in the clone and nowhere else. */
export function isOverWhenDelivered(workspace: WorkspaceKind, delivery: DeliveryKind): boolean {
  return delivery !== 'none' && !(workspace === 'clone' && delivery === 'branch');
}
