import { computed, signal } from '@preact/signals';

/** For durations on the screen. It stands still while the window is hidden. */
export const now = signal(Date.now());

/** A time of today, for times on the screen: they change at midnight only. */
export const today = computed(() => new Date(now.value).setHours(12, 0, 0, 0));

export function startClock(): void {
  setInterval(() => {
    if (document.visibilityState === 'visible') now.value = Date.now();
  }, 1000);
}
