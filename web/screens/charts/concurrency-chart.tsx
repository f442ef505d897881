import type { ChartsAnswer } from '../../../src/core/page/history-answers.ts';
import { timeText } from '../../parts/format.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { Chart, type ChartArea } from './chart.tsx';
import { largest } from './scale.ts';

const REASONS_SHOWN = 8;

interface ConcurrencyChartProps {
  readonly charts: ChartsAnswer;
  readonly isRunning: boolean;
}

/** How many items ran at the same time, and why that changed. */
export function ConcurrencyChart({ charts: { concurrency, burnDown }, isRunning }: ConcurrencyChartProps) {
  const [first, last] = [concurrency[0], concurrency.at(-1)];
  if (!first || !last) return null;
  const end = Math.max(Date.parse(last.at), Date.parse(burnDown.at(-1)?.at ?? last.at));
  // A size stays until the next change.
  const steps = ({ x, y }: ChartArea) => {
    const points = concurrency.flatMap(({ at, size }, number) => {
      const place = x.at(Date.parse(at));
      const before = concurrency[number - 1]?.size ?? size;
      return [`${place},${y.at(before)}`, `${place},${y.at(size)}`];
    });
    return [...points, `${x.at(end)},${y.at(last.size)}`].join(' ');
  };
  return (
    <Chart
      title="Concurrency"
      summary={`${last.size} ${isRunning ? 'now' : 'at the end'}`}
      times={[Date.parse(first.at), end]}
      most={largest(concurrency.map(({ size }) => size))}
      below={<Reasons concurrency={concurrency} />}
    >
      {(area) => (
        <>
          <polyline class="line is-left" points={steps(area)} />
          {concurrency.map(({ at, task, size, reason }) => (
            <circle
              key={`${at} ${task} ${size}`}
              class="point"
              cx={area.x.at(Date.parse(at))}
              cy={area.y.at(size)}
              r={3.5}
            >
              <title>{visibleText(`${timeText(at)}: ${size} (${reason || 'at first'})`)}</title>
            </circle>
          ))}
        </>
      )}
    </Chart>
  );
}

function Reasons({ concurrency }: Pick<ChartsAnswer, 'concurrency'>) {
  const latest = concurrency.slice(-REASONS_SHOWN).reverse();
  return (
    <ul class="plain-list">
      {latest.map(({ at, task, size, reason }) => (
        <li key={`${at} ${task} ${size}`}>
          <span class="dim">{timeText(at)}</span> <b>{size}</b> {visibleText(reason || 'at first')}
        </li>
      ))}
      {concurrency.length > latest.length && (
        <li class="dim">and {concurrency.length - latest.length} earlier changes</li>
      )}
    </ul>
  );
}
