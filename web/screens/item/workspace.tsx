import { useState } from 'preact/hooks';
import type { DiffAnswer, ItemAnswer, ShiftAnswer, WorkspaceAnswer } from '../../../src/core/page/answers.ts';
import { requestAction } from '../../actions/pending-action.ts';
import { ticksOf } from '../../live/live.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Diff } from '../../parts/diff.tsx';
import { FailureNote } from '../../parts/failure-note.tsx';
import { amount } from '../../parts/format.ts';
import { rowName } from '../../parts/row-name.ts';
import { visibleText } from '../../parts/visible-text.ts';
import { mayAct } from '../../state/project.ts';
import { apiPath } from '../../state/request.ts';
import { useAnswer } from '../../state/use-answer.ts';

interface WorkspaceProps {
  readonly shift: ShiftAnswer;
  readonly item: ItemAnswer;
  readonly workspace: WorkspaceAnswer;
}

/** The folder of the row, and what was changed in it. */
export function Workspace({ shift, item, workspace }: WorkspaceProps) {
  const [isOpen, setOpen] = useState(false);
  const { folder, branch, base, state, files, added, removed, isHeld, url } = workspace;
  return (
    <section class={isHeld ? 'is-held' : undefined} aria-labelledby="item-workspace">
      <h3 id="item-workspace">Workspace</h3>
      <p>
        {visibleText(state)}: {amount(files, 'file')} changed, <span class="text-done">+{added}</span>{' '}
        <span class="text-failed">-{removed}</span>
      </p>
      <div class="buttons">
        {files > 0 && (
          <button type="button" class={isHeld ? 'primary' : undefined} onClick={() => setOpen(true)}>
            {isHeld ? 'Read the diff and approve' : 'Diff'}
          </button>
        )}
      </div>
      <dl class="cells">
        <Fact name="folder" value={folder} />
        <Fact name="branch" value={branch} />
        <Fact name="base" value={base} />
        <Fact name="delivered as" value={url} />
      </dl>
      {isOpen && <DiffDialog shift={shift} item={item} isHeld={isHeld} onClose={() => setOpen(false)} />}
    </section>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string | undefined }) {
  if (value === undefined) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd class="mono">{visibleText(value)}</dd>
    </div>
  );
}

interface DiffDialogProps {
  readonly shift: ShiftAnswer;
  readonly item: ItemAnswer;
  readonly isHeld: boolean;
  readonly onClose: () => void;
}

/** A result is approved where its diff is. */
function DiffDialog({ shift, item, isHeld, onClose }: DiffDialogProps) {
  const path = apiPath('diff', { shift: shift.id, row: item.row });
  const { value, failure } = useAnswer<DiffAnswer>(path, ticksOf(shift.id).value);
  const approve = () => {
    onClose();
    requestAction({
      shift: shift.id,
      title: 'Approve',
      action: { verb: 'deliver', rows: { items: [item.item] } },
    });
  };
  return (
    <Dialog title={`Diff of ${rowName(item)}`} onClose={onClose} isWide>
      <FailureNote failure={failure} />
      <div class="dialog-body">
        {value === undefined ? failure === undefined && <p class="dim">Reading …</p> : <Diff text={value.text} />}
        {value?.isCut && <p class="dim">The rest is left out: `nightshift diff` prints all of it.</p>}
      </div>
      {isHeld && mayAct(shift) && (
        <div class="dialog-foot">
          <button type="button" onClick={onClose}>
            Not now
          </button>
          <button type="button" class="primary" disabled={value === undefined} onClick={approve}>
            Approve
          </button>
        </div>
      )}
    </Dialog>
  );
}
