import type { ChartsAnswer } from '../../../src/core/page/history-answers.ts';
import { costText, wholeNumber } from '../../parts/format.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { largest } from './scale.ts';

/** Where the money went: by role and model. */
export function Spend({ charts: { spend } }: { readonly charts: ChartsAnswer }) {
  if (spend.length === 0) return null;
  const most = largest(spend.map(({ usage }) => usage.costUsd ?? 0));
  const sorted = [...spend].sort((a, b) => (b.usage.costUsd ?? 0) - (a.usage.costUsd ?? 0));
  return (
    <figure class="chart">
      <figcaption>
        <h2>Spend by role and model</h2>
      </figcaption>
      <table class="spend">
        <thead>
          <tr>
            <th scope="col">Role</th>
            <th scope="col">Agent and model</th>
            <th scope="col" class="number">
              Tokens in
            </th>
            <th scope="col" class="number">
              Tokens out
            </th>
            <th scope="col" class="number">
              Cost
            </th>
            <td aria-hidden="true" />
          </tr>
        </thead>
        <tbody>
          {sorted.map(({ role, agent, model, usage }) => (
            <tr key={`${role} ${agent} ${model}`}>
              <td>{role}</td>
              <td>{visibleText(model === undefined ? agent : `${agent}, ${model}`)}</td>
              <td class="number">{wholeNumber(usage.inputTokens ?? 0)}</td>
              <td class="number">{wholeNumber(usage.outputTokens ?? 0)}</td>
              <td class="number">{costText(usage) ?? ''}</td>
              <td class="spend-bar" aria-hidden="true">
                <span style={{ width: `${most === 0 ? 0 : (100 * (usage.costUsd ?? 0)) / most}%` }} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </figure>
  );
}
