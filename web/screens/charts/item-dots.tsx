import { useState } from 'preact/hooks';
import type { ChartItem, ChartsAnswer } from '../../../src/core/page/history-answers.ts';
import { amount, dollars, durationText, timeText, wholeNumber } from '../../parts/format.ts';
import { Link } from '../../parts/link.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { ALL_ROWS, addressOf, go, type ItemPlace } from '../../state/place.ts';
import { Chart } from './chart.tsx';
import { durationTicks, largest, ticks } from './scale.ts';

type Measure = 'ms' | 'costUsd';

const LISTED = 5;

interface ItemDotsProps {
  readonly charts: ChartsAnswer;
  readonly shift: string;
}

/** The time or the cost of each item-task. A dot is a link; the largest are listed too, for the keyboard. */
export function ItemDots({ charts, shift }: ItemDotsProps) {
  const [measure, setMeasure] = useState<Measure>('ms');
  const { items, itemsLeftOut } = charts;
  const hasCost = items.some(({ costUsd }) => costUsd !== undefined);
  const measured = items.filter((item) => item[measure] !== undefined);
  const measureOf = (item: ChartItem) => item[measure] ?? 0;
  const text = measure === 'ms' ? durationText : dollars;
  const times = measured.map(({ at }) => Date.parse(at));
  if (items.length === 0) return null;
  const sorted = measured.map(measureOf).sort((a, b) => a - b);
  const median = text(sorted[sorted.length >> 1] ?? 0);
  const sample = itemsLeftOut > 0 ? `, a sample of ${wholeNumber(items.length)}` : '';
  const to = (item: ChartItem): ItemPlace => ({
    screen: 'item',
    shift,
    item: item.item,
    query: ALL_ROWS,
    task: item.task,
  });
  return (
    <Chart
      title={measure === 'ms' ? 'Time of each item' : 'Cost of each item'}
      summary={`median ${median}, most ${text(sorted.at(-1) ?? 0)}${sample}`}
      times={[Math.min(...times), largest(times)]}
      most={largest(sorted)}
      isLinked
      unit={text}
      marks={measure === 'ms' ? durationTicks : ticks}
      below={
        <>
          {hasCost && <MeasureChoice measure={measure} onChoose={setMeasure} />}
          <Largest items={measured} measureOf={measureOf} text={text} to={to} />
        </>
      }
    >
      {({ x, y }) =>
        measured.map((item) => {
          const place = to(item);
          return (
            // A dot can't be reached with Tab: there may be 2,000 of them.
            <a
              key={`${item.task} ${item.item}`}
              href={addressOf(place)}
              tabindex={-1}
              onClick={(event) => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                go(place);
              }}
            >
              <circle class={`dot is-${item.status}`} cx={x.at(Date.parse(item.at))} cy={y.at(measureOf(item))} r={3}>
                <title>{visibleText(`row ${item.row}, ${item.task}: ${text(measureOf(item))}, ${item.status}`)}</title>
              </circle>
            </a>
          );
        })
      }
    </Chart>
  );
}

function MeasureChoice({
  measure,
  onChoose,
}: {
  readonly measure: Measure;
  readonly onChoose: (measure: Measure) => void;
}) {
  const button = (id: Measure, title: string) => (
    <button type="button" class="chip" aria-pressed={measure === id} onClick={() => onChoose(id)}>
      {title}
    </button>
  );
  return (
    <div class="chips">
      {button('ms', 'time')}
      {button('costUsd', 'cost')}
    </div>
  );
}

interface LargestProps {
  readonly items: readonly ChartItem[];
  readonly measureOf: (item: ChartItem) => number;
  readonly text: (value: number) => string;
  readonly to: (item: ChartItem) => ItemPlace;
}

function Largest({ items, measureOf, text, to }: LargestProps) {
  const largestItems = [...items].sort((a, b) => measureOf(b) - measureOf(a)).slice(0, LISTED);
  return (
    <ul class="plain-list" aria-label={`The largest ${amount(largestItems.length, 'item')}`}>
      {largestItems.map((item) => (
        <li key={`${item.task} ${item.item}`}>
          <b>{text(measureOf(item))}</b> <Link to={to(item)}>row {item.row}</Link>{' '}
          <span class="dim">
            {visibleText(item.task)}, {timeText(item.at)}
          </span>
        </li>
      ))}
    </ul>
  );
}
