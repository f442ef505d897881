import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import type { ChartsAnswer } from '../../../src/core/page/history-answers.ts';
import { finishText, wholeNumber } from '../../parts/format.ts';
import { Chart, type ChartArea } from './chart.tsx';
import { largest } from './scale.ts';

interface BurnDownProps {
  readonly charts: ChartsAnswer;
  readonly shift: ShiftAnswer;
}

/** What is left over time, and where it leads. */
export function BurnDown({ charts, shift }: BurnDownProps) {
  const { burnDown } = charts;
  const [first, last] = [burnDown[0], burnDown.at(-1)];
  if (!first || !last) return null;
  const finish = shift.status.running ? shift.finish : undefined;
  const end = Math.max(Date.parse(last.at), finish ? Date.parse(finish.latest) : 0);
  const most = largest(burnDown.map(({ left, failed }) => Math.max(left, failed)));
  const expected = finish ? `, ends ${finishText(finish)}` : '';
  const summary = `${wholeNumber(last.left)} item-tasks left, ${wholeNumber(last.failed)} failed${expected}`;
  // A count stays until the next change: between two runs nothing happens.
  const line = ({ x, y }: ChartArea, key: 'left' | 'failed') =>
    burnDown
      .flatMap((point, number) => {
        const place = x.at(Date.parse(point.at));
        const before = burnDown[number - 1] ?? point;
        return [`${place},${y.at(before[key])}`, `${place},${y.at(point[key])}`];
      })
      .join(' ');
  const band = ({ x, y }: ChartArea) => {
    if (!finish) return null;
    const start = `${x.at(Date.parse(last.at))},${y.at(last.left)}`;
    const ends = [finish.earliest, finish.latest].map((time) => `${x.at(Date.parse(time))},${y.at(0)}`);
    return <polygon class="band" points={[start, ...ends].join(' ')} />;
  };
  return (
    <Chart
      title="Burn-down"
      summary={summary}
      times={[Date.parse(first.at), end]}
      most={most}
      unit={wholeNumber}
      below={<Legend hasFinish={finish !== undefined} />}
    >
      {(area) => (
        <>
          {charts.runs.map(({ startedAt }) => (
            <line
              key={startedAt}
              class="run-start"
              x1={area.x.at(Date.parse(startedAt))}
              x2={area.x.at(Date.parse(startedAt))}
              y1={area.y.at(area.y.to)}
              y2={area.y.at(0)}
            />
          ))}
          {band(area)}
          <polyline class="line is-left" points={line(area, 'left')} />
          <polyline class="line is-failed" points={line(area, 'failed')} />
        </>
      )}
    </Chart>
  );
}

function Legend({ hasFinish }: { readonly hasFinish: boolean }) {
  return (
    <ul class="legend">
      <li class="is-left">left</li>
      <li class="is-failed">failed</li>
      {hasFinish && <li class="is-band">expected</li>}
      <li class="is-run">start of a run</li>
    </ul>
  );
}
