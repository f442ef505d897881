import { useState } from 'preact/hooks';
import type { ItemAnswer, ItemTaskAnswer, ShiftAnswer } from '../../../src/core/page/answers.ts';
import { editedRow } from '../../actions/edit-cell.tsx';
import { ticksOf } from '../../live/live.ts';
import { Badge } from '../../parts/badge.tsx';
import { FailureNote } from '../../parts/failure-note.tsx';
import { useKeys } from '../../parts/keys.ts';
import { Link } from '../../parts/link.tsx';
import { rowName } from '../../parts/row-name.ts';
import { Tabs } from '../../parts/tabs.tsx';
import { visibleText } from '../../parts/visible-text.ts';
import { go, type ItemPlace } from '../../state/place.ts';
import { mayAct } from '../../state/project.ts';
import { apiPath } from '../../state/request.ts';
import { useAnswer } from '../../state/use-answer.ts';
import { ItemActions, retryItem } from './item-actions.tsx';
import { ItemCells } from './item-cells.tsx';
import { ItemTask } from './item-task.tsx';
import { Workspace } from './workspace.tsx';

interface ItemScreenProps {
  readonly place: ItemPlace;
  readonly shift: ShiftAnswer;
}

/** One row: its cells, and for each task what was done, how it was judged, and what was said. */
export function ItemScreen({ place, shift }: ItemScreenProps) {
  const path = apiPath('item', { shift: shift.id, item: place.item });
  const { value: item, failure } = useAnswer<ItemAnswer>(path, ticksOf(shift.id).value);
  const grid = { screen: 'grid', shift: shift.id, query: place.query } as const;
  const edit = (column?: string) => {
    if (!item || !mayAct(shift)) return;
    const known = { shift: shift.id, item: item.item, row: item.row, label: item.label, cells: item.metadata };
    editedRow.value = column === undefined ? known : { ...known, column };
  };
  useKeys({
    Escape: () => go(grid),
    e: () => edit(),
    r: () => item && mayAct(shift) && retryItem(shift.id, item.item),
    '/': () => document.getElementById('search')?.focus(),
  });
  return (
    <main class="scroller" tabIndex={0} aria-label="Item">
      <div class="item-head">
        <Link to={grid} class="back">
          ‹ Grid
        </Link>
        <h2>{item ? rowName(item) : '…'}</h2>
        {item && mayAct(shift) && <ItemActions shift={shift} item={item} />}
      </div>
      <FailureNote failure={failure} />
      {item && (
        <div class="item">
          <div class="item-side">
            <ItemCells cells={item.metadata} onEdit={mayAct(shift) ? edit : undefined} />
            {item.workspace && <Workspace shift={shift} item={item} workspace={item.workspace} />}
          </div>
          <ItemTasks place={place} item={item} />
        </div>
      )}
    </main>
  );
}

/** The task that needs attention: the one at work, or the first that failed, or the last that began. */
function mainTask(tasks: readonly ItemTaskAnswer[]): ItemTaskAnswer | undefined {
  return (
    tasks.find(({ session }) => session !== undefined) ??
    tasks.find(({ status }) => status === 'failed') ??
    tasks.findLast(({ status }) => status !== 'todo') ??
    tasks[0]
  );
}

function ItemTasks({ place, item }: { readonly place: ItemPlace; readonly item: ItemAnswer }) {
  // What is shown stays, whatever begins meanwhile.
  const [first] = useState(() => mainTask(item.tasks)?.task);
  const chosen = item.tasks.find(({ task }) => task === (place.task ?? first)) ?? item.tasks[0];
  if (!chosen) return <p class="dim">The shift has no task yet.</p>;
  const choose = (task: string) => go({ ...place, task, role: undefined, attempt: undefined }, 'replace');
  const choices = item.tasks.map(({ task, status }) => ({
    id: task,
    title: (
      <>
        <Badge status={status} /> {visibleText(task)}
      </>
    ),
  }));
  return (
    <div class="item-main">
      {choices.length > 1 && (
        <Tabs label="Tasks" choices={choices} chosen={chosen.task} onChoose={choose} controls="item-task" />
      )}
      <ItemTask key={chosen.task} place={place} item={item} task={chosen} />
    </div>
  );
}
