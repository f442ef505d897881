import type { ComponentChildren } from 'preact';
import { project } from '../state/project.ts';
import { Link } from './link.tsx';
import { visibleText } from './visible-text.ts';

interface TopBarProps {
  /** Where the page is, below the project. */
  readonly name?: string | undefined;
  readonly onHelp: () => void;
  readonly children?: ComponentChildren;
}

export function TopBar({ name, onHelp, children }: TopBarProps) {
  const root = project.value?.root ?? '';
  return (
    <header class="top-bar">
      <Link to={{ screen: 'shifts' }} class="home" title={visibleText(root)}>
        Nightshift
      </Link>
      {name !== undefined && <h1 class="top-name">{visibleText(name)}</h1>}
      {children}
      <span class="spring" />
      {project.value?.isReadOnly && <span class="tag">read-only</span>}
      <button type="button" class="quiet" onClick={onHelp} aria-label="Keys and letters" title="Keys and letters (?)">
        ?
      </button>
    </header>
  );
}
