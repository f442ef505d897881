import { useEffect, useRef } from 'preact/hooks';

export type KeyActions = Readonly<Record<string, (() => void) | undefined>>;

interface PressedKey {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly defaultPrevented: boolean;
}

/** What the focused element does with keys itself. */
export type Focus = 'text' | 'control' | 'none';

/**
 * The key that a screen may act on. Keys with a modifier belong to the browser, letters in a text field to the text,
 * and Enter to the focused link or button.
 */
export function keyFor(pressed: PressedKey, focus: Focus): string | undefined {
  const { key, ctrlKey, metaKey, altKey, defaultPrevented } = pressed;
  if (ctrlKey || metaKey || altKey || defaultPrevented || focus === 'text') return undefined;
  return focus === 'control' && (key === 'Enter' || key === ' ') ? undefined : key;
}

/** Acts on keys while the component is shown and no dialog is open. */
export function useKeys(actions: KeyActions): void {
  const latest = useRef(actions);
  latest.current = actions;
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (document.querySelector('dialog[open]')) return;
      const key = keyFor(event, focusOf(event.target));
      const action = key === undefined ? undefined : latest.current[key];
      if (!action) return;
      event.preventDefault();
      action();
    };
    document.addEventListener('keydown', onKey);
    return () => document.removeEventListener('keydown', onKey);
  }, []);
}

function focusOf(target: EventTarget | null): Focus {
  if (!(target instanceof Element)) return 'none';
  if (target.matches('textarea, select, input:not([type=checkbox], [type=radio], [type=button])')) return 'text';
  return target.matches('a, button, summary, input, [role=tab]') ? 'control' : 'none';
}
