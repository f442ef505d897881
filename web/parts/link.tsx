import type { ComponentChildren } from 'preact';
import { addressOf, go, type Place } from '../state/place.ts';

interface LinkProps {
  readonly to: Place;
  readonly class?: string | undefined;
  readonly title?: string | undefined;
  /** It leads to the screen that is shown. */
  readonly isCurrent?: boolean | undefined;
  readonly id?: string | undefined;
  readonly children: ComponentChildren;
}

/** A link within the page. With a modifier key, the browser opens a window as for any other link. */
export function Link({ to, isCurrent, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(to);
  };
  return (
    <a href={addressOf(to)} onClick={follow} aria-current={isCurrent ? 'page' : undefined} {...rest}>
      {children}
    </a>
  );
}
