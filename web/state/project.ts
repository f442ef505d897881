import { signal } from '@preact/signals';
import type { ProjectAnswer } from '../../src/core/page/answers.ts';

/** The latest answer about the project. */
export const project = signal<ProjectAnswer | undefined>(undefined);

/** A shift is shown first; what is allowed follows. */
export const isShiftKnown = signal(false);

/** Until the server has said that actions are allowed, there are none. */
export function mayAct({ isArchived }: { readonly isArchived: boolean }): boolean {
  return !isArchived && project.value?.isReadOnly === false;
}
