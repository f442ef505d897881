import { signal } from '@preact/signals';
import type { Action } from '../../src/core/page/action.ts';
import type { ShiftId } from '../../src/core/page/answers.ts';

/** An action that the user was asked about. Nothing happens before it is confirmed. */
export interface PendingAction {
  readonly shift: ShiftId;
  readonly title: string;
  readonly action: Action;
  readonly onDone?: () => void;
}

export const pendingAction = signal<PendingAction | undefined>(undefined);

export function requestAction(pending: PendingAction): void {
  pendingAction.value = pending;
}
