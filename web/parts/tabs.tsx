import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

export interface TabChoice {
  readonly id: string;
  readonly title: ComponentChildren;
}

interface TabsProps {
  readonly label: string;
  readonly choices: readonly TabChoice[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
  /** The panel, for readers of the screen. */
  readonly controls: string;
}

/** Tabs as readers of the screen know them: one stop for Tab, arrows between them. */
export function Tabs({ label, choices, chosen, onChoose, controls }: TabsProps) {
  const list = useRef<HTMLDivElement>(null);
  const onKey = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    const at = choices.findIndex(({ id }) => id === chosen);
    const next = (at + step + choices.length) % choices.length;
    onChoose(choices[next]!.id);
    (list.current?.children[next] as HTMLElement | undefined)?.focus();
    event.preventDefault();
  };
  return (
    <div role="tablist" class="tab-list" aria-label={label} ref={list} onKeyDown={onKey}>
      {choices.map(({ id, title }) => (
        <button
          key={id}
          type="button"
          role="tab"
          aria-selected={id === chosen}
          aria-controls={controls}
          tabIndex={id === chosen ? 0 : -1}
          onClick={() => onChoose(id)}
        >
          {title}
        </button>
      ))}
    </div>
  );
}
