/** Rows that are drawn, from 0; `end` is the first that is not. */
export interface RowRange {
  readonly first: number;
  readonly end: number;
}

export interface Viewport {
  /** How far the first row is above the upper edge of what is visible. */
  readonly top: number;
  readonly height: number;
}

/** Drawn beyond each edge, so that a short scroll shows no gap. */
const OVERSCAN = 8;

export function visibleRange({ top, height }: Viewport, rowHeight: number, count: number): RowRange {
  const first = Math.floor(top / rowHeight) - OVERSCAN;
  const end = Math.ceil((top + height) / rowHeight) + OVERSCAN;
  return { first: Math.max(0, Math.min(first, count)), end: Math.max(0, Math.min(end, count)) };
}

/** How far to scroll so that a row is between the edges; 0 if it is. */
export function scrollToShow(row: number, rowHeight: number, { top, height }: Viewport): number {
  const [start, end] = [row * rowHeight, (row + 1) * rowHeight];
  if (start < top) return start - top;
  return end > top + height ? end - top - height : 0;
}
