import type { CriterionVerdict } from '../../../src/core/model/model.ts';
import type { ItemAnswer, ItemTaskAnswer } from '../../../src/core/page/answers.ts';
import { Badge } from '../../parts/badge.tsx';
import { costText, durationText, elapsedText } from '../../parts/format.ts';
import { Link } from '../../parts/link.tsx';
import { visibleOutput, visibleText } from '../../parts/visible-text.ts';
import type { ItemPlace } from '../../state/place.ts';
import { PACE_TEXTS } from '../grid/at-work.tsx';
import { Attempts } from './attempts.tsx';

interface ItemTaskProps {
  readonly place: ItemPlace;
  readonly item: ItemAnswer;
  readonly task: ItemTaskAnswer;
}

/** One task of a row: how it stands and why, then what was said. */
export function ItemTask({ place, item, task }: ItemTaskProps) {
  const { failure, verdicts, captured } = task;
  return (
    <div id="item-task" role="tabpanel" aria-label={visibleText(task.task)}>
      <TaskFacts place={place} task={task} />
      {failure !== undefined && task.status === 'failed' && <pre class="reason">{visibleOutput(failure)}</pre>}
      {verdicts.length > 0 && <Verdicts verdicts={verdicts} />}
      {Object.keys(captured).length > 0 && <Outputs captured={captured} />}
      <Attempts place={place} item={item} task={task} />
    </div>
  );
}

function TaskFacts({ place, task }: { readonly place: ItemPlace; readonly task: ItemTaskAnswer }) {
  const { status, usage, ms, devModel, qaModel, stepsVersion, key, session } = task;
  const models = [...new Set([devModel, qaModel].filter((model) => model !== undefined))];
  const cost = costText(usage);
  return (
    <ul class="facts task-facts">
      <li>
        <Badge status={status} hasName />
      </li>
      {session && (
        <li>
          {session.role} with {visibleText(session.agent)}
          {session.worker !== undefined && ` on ${visibleText(session.worker)}`} for {elapsedText(session.since)}
          {session.doing !== undefined && <span class="cell-doing"> {visibleText(session.doing)}</span>}{' '}
          <span class="text-warning">{PACE_TEXTS[session.pace]}</span>
        </li>
      )}
      {ms !== undefined && <li>{durationText(ms)}</li>}
      {cost !== undefined && <li>{cost}</li>}
      {models.length > 0 && <li>{visibleText(models.join(', judged by '))}</li>}
      {stepsVersion !== undefined && (
        <li>
          <Link to={{ screen: 'steps', shift: place.shift, task: task.task, to: stepsVersion }}>
            Steps version {stepsVersion}
          </Link>
        </li>
      )}
      <li>
        key <code>{visibleText(key)}</code>
      </li>
    </ul>
  );
}

function Verdicts({ verdicts }: { readonly verdicts: readonly CriterionVerdict[] }) {
  return (
    <table class="verdicts">
      <thead>
        <tr>
          <th scope="col">Criterion</th>
          <th scope="col">Judged by</th>
          <th scope="col">Verdict</th>
          <th scope="col">Reason or output</th>
        </tr>
      </thead>
      <tbody>
        {verdicts.map(({ criterion, status, reason, checked }) => (
          <tr key={criterion}>
            <td>{visibleText(criterion)}</td>
            <td>{checked ? 'check' : 'agent'}</td>
            <td>
              <span class={`verdict is-${status === 'PASS' ? 'done' : 'failed'}`}>{status}</span>
            </td>
            <td>{reason !== undefined && <pre>{visibleOutput(reason)}</pre>}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Outputs({ captured }: { readonly captured: Readonly<Record<string, string>> }) {
  return (
    <dl class="cells outputs" aria-label="Outputs">
      {Object.entries(captured).map(([name, value]) => (
        <div key={name}>
          <dt>{visibleText(name)}</dt>
          <dd>{visibleText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}
