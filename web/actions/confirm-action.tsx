import { useEffect, useRef, useState } from 'preact/hooks';
import type { ActAnswer, Action } from '../../src/core/page/action.ts';
import { refresh } from '../live/live.ts';
import { CommandLine } from '../parts/command-line.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { FailureNote } from '../parts/failure-note.tsx';
import { visibleText } from '../parts/visible-text.ts';
import { notify } from '../state/notices.ts';
import { act, type Failure } from '../state/request.ts';
import { type PendingAction, pendingAction } from './pending-action.ts';

const close = () => {
  pendingAction.value = undefined;
};

/** Shows the equivalent command line and what it does, and asks. */
export function ConfirmAction() {
  const pending = pendingAction.value;
  return pending === undefined ? null : <Confirm key={pending.title} pending={pending} />;
}

function Confirm({ pending }: { readonly pending: PendingAction }) {
  const { shift, title } = pending;
  const [action, setAction] = useState<Action>(pending.action);
  const [answer, failure, setFailure] = useDryRun(shift, action);
  const [isActing, setActing] = useState(false);
  const needsLimit = answer?.needsLimit === true;

  const confirm = async (event: Event) => {
    event.preventDefault();
    setActing(true);
    const reply = await act({ shift, action });
    setActing(false);
    if ('failure' in reply) return setFailure(reply.failure);
    close();
    notify(reply.value.effect);
    refresh(shift);
    pending.onDone?.();
  };

  return (
    <Dialog title={title} onClose={close}>
      <form onSubmit={confirm}>
        <Options action={action} needsLimit={needsLimit} onChange={setAction} />
        <FailureNote failure={failure} />
        {answer === undefined ? (
          failure === undefined && <p class="dim">Asking what it would do …</p>
        ) : (
          <>
            <p>{visibleText(answer.effect)}</p>
            <CommandLine command={answer.command} />
          </>
        )}
        <div class="dialog-foot">
          <button type="button" onClick={close}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={answer === undefined || needsLimit || isActing}>
            {title}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

/** The latest answer stays while a change of the options is asked about. */
function useDryRun(shift: string, action: Action) {
  const [answer, setAnswer] = useState<ActAnswer>();
  const [failure, setFailure] = useState<Failure>();
  useEffect(() => {
    let isCurrent = true;
    void act({ shift, action, isDry: true }).then((reply) => {
      if (!isCurrent) return;
      setFailure('failure' in reply ? reply.failure : undefined);
      setAnswer('value' in reply ? reply.value : undefined);
    });
    return () => {
      isCurrent = false;
    };
  }, [shift, action]);
  return [answer, failure, setFailure] as const;
}

interface OptionsProps {
  readonly action: Action;
  readonly needsLimit: boolean;
  readonly onChange: (action: Action) => void;
}

function Options({ action, needsLimit, onChange }: OptionsProps) {
  if (action.verb === 'pause' || action.verb === 'stop') {
    const set = (event: Event) => onChange({ ...action, now: (event.target as HTMLInputElement).checked });
    return (
      <label class="check">
        <input type="checkbox" checked={action.now === true} onChange={set} />
        At once: give running items back instead of letting them finish
      </label>
    );
  }
  if (action.verb !== 'start' && action.verb !== 'retry') return null;
  if (!needsLimit && action.maxCost === undefined) return null;
  const set = (event: Event) => {
    const { maxCost: _, ...rest } = action;
    const value = (event.target as HTMLInputElement).value.trim();
    onChange(value === '' ? rest : { ...rest, maxCost: value });
  };
  return <LimitField value={action.maxCost ?? ''} onInput={set} />;
}

interface LimitFieldProps {
  readonly value: string;
  readonly onInput: (event: Event) => void;
}

/** Nothing else can be done in its dialog, so it gets the focus. */
function LimitField({ value, onInput }: LimitFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <label class="field">
      Limit in US dollars, over all runs of the shift
      <input ref={field} type="text" inputMode="decimal" value={value} onInput={onInput} />
    </label>
  );
}
