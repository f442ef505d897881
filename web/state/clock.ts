import { signal } from '@preact/signals';

/** For times and durations on the screen. It stands still while the window is hidden. */
export const now = signal(Date.now());

export function startClock(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible') now.value = Date.now();
  }, 1000);
}
