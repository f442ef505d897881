import { useEffect } from 'preact/hooks';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title;
  }, [title]);
}

/** A link that is followed goes away with its screen. The next one gets its focus, so that keys scroll it at once. */
export function useFocus(screen: string): void {
  useEffect(() => {
    if (document.activeElement !== document.body) return;
    document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true, focusVisible: false });
  }, [screen]);
}
