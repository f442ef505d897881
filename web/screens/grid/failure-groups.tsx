import { useState } from 'preact/hooks';
import type { ShiftAnswer } from '../../../src/core/page/answers.ts';
import type { RowQuery } from '../../../src/core/page/row-query.ts';
import { requestAction } from '../../actions/pending-action.ts';
import { wholeNumber } from '../../parts/format.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { mayAct } from '../../state/project.ts';

const SHOWN = 5;

interface FailureGroupsProps {
  readonly shift: ShiftAnswer;
  readonly query: RowQuery;
  readonly onQuery: (query: RowQuery) => void;
}

/** Failures with the same reason: each is a filter. The one that is chosen is shown in full. */
export function FailureGroups({ shift, query, onQuery }: FailureGroupsProps) {
  const [isOpen, setOpen] = useState(false);
  const { groups, groupsLeftOut } = shift;
  if (groups.length === 0) return null;
  const shown = isOpen ? groups : groups.filter(({ id }, number) => number < SHOWN || id === query.group);
  const more = groups.length - shown.length;
  const choose = (id: string) => {
    const { group, ...rest } = query;
    onQuery(group === id ? rest : { ...rest, group: id });
  };
  return (
    <section class="panel" aria-labelledby="failure-groups">
      <h2 id="failure-groups">Failures by reason</h2>
      <ul class="groups">
        {shown.map(({ id, task, reason, items }) => {
          const isChosen = id === query.group;
          return (
            <li key={id} class={isChosen ? 'is-chosen' : undefined}>
              <button type="button" class="group" aria-pressed={isChosen} onClick={() => choose(id)}>
                <b class="group-count">{wholeNumber(items)}</b>
                <span class="dim group-task">{visibleText(task)}</span>
                <span class="group-reason">{visibleText(isChosen ? reason : lastLine(reason))}</span>
              </button>
              {isChosen && mayAct(shift) && (
                <button
                  type="button"
                  onClick={() => {
                    const rows = { matching: { ...query, group: id } };
                    requestAction({ shift: shift.id, title: 'Retry', action: { verb: 'retry', rows } });
                  }}
                >
                  Retry these
                </button>
              )}
            </li>
          );
        })}
      </ul>
      {more > 0 && (
        <button type="button" class="quiet" onClick={() => setOpen(true)}>
          {wholeNumber(more)} more reasons
        </button>
      )}
      {isOpen && groupsLeftOut > 0 && <p class="dim">{wholeNumber(groupsLeftOut)} rarer reasons are left out</p>}
    </section>
  );
}

/** The last line of an output is usually the cause. */
function lastLine(reason: string): string {
  const lines = reason.trim().split('\n');
  return lines.length > 1 ? `… ${lines.at(-1)!.trim()}` : reason;
}
