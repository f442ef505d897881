import { signal } from '@preact/signals';

export interface Notice {
  readonly id: number;
  readonly text: string;
  readonly isFailure: boolean;
}

/** What became of an action, the latest last. */
export const notices = signal<readonly Notice[]>([]);

const SHOWN_MS = 8000;
let last = 0;

/** A failure stays until it is closed. */
export function notify(text: string, isFailure = false): void {
  last += 1;
  const id = last;
  notices.value = [...notices.value, { id, text, isFailure }];
  if (!isFailure) setTimeout(() => dismiss(id), SHOWN_MS);
}

export function dismiss(id: number): void {
  notices.value = notices.value.filter((notice) => notice.id !== id);
}
