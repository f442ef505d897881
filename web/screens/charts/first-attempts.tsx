import type { ChartsAnswer } from '../../../src/core/page/history-answers.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { Chart } from './chart.tsx';

type TaskAttempts = ChartsAnswer['firstAttempts'][number];

/** Whether the shift gets better as it learns. */
export function FirstAttempts({ charts: { firstAttempts } }: { readonly charts: ChartsAnswer }) {
  return (
    <>
      {firstAttempts.map((each) => (
        <Tenths key={each.task} attempts={each} title={firstAttempts.length > 1 ? `: ${each.task}` : ''} />
      ))}
    </>
  );
}

function Tenths({ attempts, title }: { readonly attempts: TaskAttempts; readonly title: string }) {
  const heading = visibleText(`Done on the first attempt${title}`);
  const { tenths } = attempts;
  if (tenths === null) {
    return (
      <figure class="chart">
        <figcaption>
          <h2>{heading}</h2>
          <p class="dim">Too few rows have ended.</p>
        </figcaption>
      </figure>
    );
  }
  const share = ({ succeeded, ended }: { succeeded: number; ended: number }) => (ended === 0 ? 0 : succeeded / ended);
  const texts = tenths.map((tenth) => (tenth.ended === 0 ? '-' : String(Math.round(100 * share(tenth)))));
  return (
    <Chart
      title={heading}
      summary={`by tenth of the table: ${texts.join(', ')} %`}
      most={1}
      unit={(value) => `${Math.round(value * 100)} %`}
    >
      {({ x, y }) =>
        tenths.map((tenth, number) => {
          const [left, right] = [x.at(number / tenths.length), x.at((number + 1) / tenths.length)];
          return (
            <g key={number}>
              <rect
                class="bar"
                x={left + 3}
                width={Math.max(1, right - left - 6)}
                y={y.at(share(tenth))}
                height={y.at(0) - y.at(share(tenth))}
              >
                <title>{`${tenth.succeeded} of ${tenth.ended}`}</title>
              </rect>
              <text class="axis-x" x={(left + right) / 2} y={y.at(0) + 18}>
                {number + 1}
              </text>
            </g>
          );
        })
      }
    </Chart>
  );
}
