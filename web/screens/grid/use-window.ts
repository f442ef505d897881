import type { RefObject } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { linkId } from './grid-row.tsx';
import { type RowRange, scrollToShow, type Viewport, visibleRange } from './visible-range.ts';

/** In rem, as in the style sheet. */
const ROW_HEIGHT = 1.75;

/** The part of a long table that is drawn, and the row that keys act on. */
export interface GridWindow {
  readonly scroller: RefObject<HTMLElement | null>;
  readonly filters: RefObject<HTMLDivElement | null>;
  readonly head: RefObject<HTMLDivElement | null>;
  readonly rows: RefObject<HTMLDivElement | null>;
  readonly range: RowRange;
  readonly rowHeight: number;
  /** The head of the table stays below the filters. */
  readonly filtersHeight: number;
  /** That is drawn as active. */
  readonly active: number | undefined;
  /** That the next key acts on: keys may come faster than rows are drawn. */
  latestActive(): number | undefined;
  setActive(index: number): void;
  /** Moves the active row, scrolls to it and gives it the focus. */
  move(by: number): void;
}

/** Where the user was, by address: going back returns there. */
const memory = new Map<string, { readonly scrollTop: number; readonly active: number | undefined }>();

export function useWindow(address: string, count: number): GridWindow {
  const elements = useElements();
  const rowHeight = useRowHeight();
  const [range, setRange] = useState<RowRange>({ first: 0, end: 0 });
  const [filtersHeight, setFiltersHeight] = useState(0);
  const { active, setActive, focusOn } = useActiveRow(memory.get(address)?.active);

  useLayoutEffect(() => {
    const { scroller, filters } = elements;
    if (!scroller.current) return;
    const measure = () => {
      setFiltersHeight(filters.current?.offsetHeight ?? 0);
      setRange((known) => {
        const next = visibleRange(viewportOf(elements), rowHeight, count);
        return next.first === known.first && next.end === known.end ? known : next;
      });
    };
    const observer = new ResizeObserver(measure);
    for (const { current } of Object.values(elements)) if (current) observer.observe(current);
    scroller.current.addEventListener('scroll', measure, { passive: true });
    measure();
    return () => {
      observer.disconnect();
      scroller.current?.removeEventListener('scroll', measure);
    };
  }, [elements, rowHeight, count]);

  useMemory(address, elements.scroller, active.current, count > 0);

  const move = (by: number) => {
    if (count === 0) return;
    const from = active.current;
    const next = Math.max(0, Math.min(count - 1, from === undefined ? 0 : from + by));
    focusOn(next);
    elements.scroller.current?.scrollBy({ top: scrollToShow(next, rowHeight, viewportOf(elements)) });
  };
  return {
    ...elements,
    range,
    rowHeight,
    filtersHeight,
    active: active.current,
    latestActive: () => active.current,
    setActive,
    move,
  };
}

/** The row that keys act on, and the focus that follows it. */
function useActiveRow(first: number | undefined) {
  const active = useRef(first);
  const [, draw] = useState(first);
  const toFocus = useRef(false);
  const setActive = (index: number) => {
    // A focus that was set here is not news, and the user may be further by now.
    if (toFocus.current) return;
    active.current = index;
    draw(index);
  };
  const focusOn = (index: number) => {
    active.current = index;
    toFocus.current = true;
    draw(index);
  };
  useLayoutEffect(() => {
    if (!toFocus.current || active.current === undefined) return;
    const link = document.getElementById(linkId(active.current));
    link?.focus({ preventScroll: true });
    // A row that is not loaded yet gets the focus when it is.
    toFocus.current = link === null;
  });
  return { active, setActive, focusOn };
}

type Elements = Pick<GridWindow, 'scroller' | 'filters' | 'head' | 'rows'>;

function useElements(): Elements {
  const elements: Elements = {
    scroller: useRef<HTMLElement>(null),
    filters: useRef<HTMLDivElement>(null),
    head: useRef<HTMLDivElement>(null),
    rows: useRef<HTMLDivElement>(null),
  };
  return useRef(elements).current;
}

function useRowHeight(): number {
  return useState(() => ROW_HEIGHT * Number.parseFloat(getComputedStyle(document.documentElement).fontSize))[0];
}

/** What is visible of the rows: between the head of the table, or the top of the window, and its lower edge. */
function viewportOf({ scroller, head, rows }: Elements): Viewport {
  if (!scroller.current || !rows.current || !head.current) return { top: 0, height: 0 };
  const upper = head.current.getBoundingClientRect().bottom;
  const lower = scroller.current.getBoundingClientRect().bottom;
  return { top: upper - rows.current.getBoundingClientRect().top, height: Math.max(0, lower - upper) };
}

/** Keeps the position of each address, and returns to it once the rows are there. */
function useMemory(
  address: string,
  scroller: RefObject<HTMLElement | null>,
  active: number | undefined,
  hasRows: boolean,
): void {
  const latest = useRef({ scrollTop: 0, active });
  latest.current.active = active;
  useEffect(() => {
    const element = scroller.current;
    const onScroll = () => {
      latest.current.scrollTop = element?.scrollTop ?? 0;
    };
    element?.addEventListener('scroll', onScroll, { passive: true });
    return () => {
      element?.removeEventListener('scroll', onScroll);
      memory.set(address, { ...latest.current });
    };
  }, [address, scroller]);
  useLayoutEffect(() => {
    if (hasRows && scroller.current)
      scroller.current.scrollTop = memory.get(address)?.scrollTop ?? scroller.current.scrollTop;
  }, [address, scroller, hasRows]);
}
