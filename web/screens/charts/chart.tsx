import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { timeText } from '../../parts/format.ts';
import { linear, type Scale, ticks, timeTicks } from './scale.ts';

export interface ChartArea {
  readonly x: Scale;
  readonly y: Scale;
  readonly width: number;
  readonly height: number;
}

interface ChartProps {
  readonly title: string;
  /** What the chart shows, for those who can't see it. */
  readonly summary: string;
  /** Times, in milliseconds since 1970; without it, values from 0 to 1 without an axis. */
  readonly times?: readonly [from: number, to: number] | undefined;
  readonly most: number;
  readonly unit?: (value: number) => string;
  /** Values that the vertical axis names. */
  readonly marks?: typeof ticks;
  /** What is drawn are links, and a list below has them for the keyboard. */
  readonly isLinked?: boolean;
  readonly children: (area: ChartArea) => ComponentChildren;
  readonly below?: ComponentChildren;
}

const HEIGHT = 200;
const MARGIN = { left: 52, right: 12, top: 10, bottom: 24 };
const PX_PER_LABEL = 110;
/** A label this near to an edge would be cut. */
const EDGE_PX = 20;

/** Axes around what is drawn in the area. The width is that of the place where it stands. */
export function Chart({
  title,
  summary,
  times,
  most,
  unit = String,
  marks = ticks,
  isLinked = false,
  children,
  below,
}: ChartProps) {
  const [width, frame] = useWidth();
  const x = linear(times ?? [0, 1], [MARGIN.left, Math.max(MARGIN.left + 1, width - MARGIN.right)]);
  const y = linear([0, most || 1], [HEIGHT - MARGIN.bottom, MARGIN.top]);
  const offset = times === undefined ? 0 : new Date(times[0]).getTimezoneOffset();
  const labels = times === undefined ? [] : timeTicks(x.from, x.to, Math.max(2, width / PX_PER_LABEL), offset);
  return (
    <figure class="chart" ref={frame}>
      <figcaption>
        <h2>{title}</h2>
        <p class="dim">{summary}</p>
      </figcaption>
      {width > 0 && (
        // biome-ignore lint/a11y/noSvgWithoutTitle: it has a label, or the list below has its links
        <svg
          width={width}
          height={HEIGHT}
          {...(isLinked ? { 'aria-hidden': 'true' } : { role: 'img', 'aria-label': `${title}: ${summary}` })}
        >
          {marks(0, y.to, 4).map((value) => (
            <g key={value} class="axis">
              <line x1={MARGIN.left} x2={width - MARGIN.right} y1={y.at(value)} y2={y.at(value)} />
              <text x={MARGIN.left - 6} y={y.at(value)} class="axis-y">
                {unit(value)}
              </text>
            </g>
          ))}
          {labels
            .filter((time) => x.at(time) < width - EDGE_PX)
            .map((time) => (
              <text key={time} x={x.at(time)} y={HEIGHT - 6} class="axis-x">
                {timeText(time)}
              </text>
            ))}
          {children({ x, y, width, height: HEIGHT })}
        </svg>
      )}
      {below}
    </figure>
  );
}

function useWidth() {
  const frame = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [width, frame] as const;
}
