import type { NightshiftEvent } from '../model/events.ts';
import type { CriterionVerdict } from '../model/model.ts';

/** The details of the latest try of one item-task, for `show`. */
export class ItemDetails {
  attempts: { number: number; status: string; reason?: string; at: string; worker?: string }[] = [];
  dev?: { status: string; attempts: number; ms: number; reason?: string; at: string; model?: string; worker?: string };
  qa?: { status: string; reason?: string; verdicts: CriterionVerdict[]; at: string; model?: string; worker?: string };
  key?: string;
  /** Of the Steps that its dev got. */
  version?: string;

  add(event: NightshiftEvent): void {
    switch (event.type) {
      case 'dev:started':
        // An item that a qa sent back continues its attempts.
        if ((event.attempt ?? 1) === 1) this.attempts = [];
        delete this.dev;
        delete this.qa;
        this.key = event.key;
        if (typeof event.version === 'string') this.version = event.version;
        return;
      case 'attempt:finished': {
        const { attempt: number = 1, status, reason, at, worker } = event;
        this.attempts.push({ number, status, at, ...textIn({ reason, worker }) });
        return;
      }
      case 'dev:finished': {
        const { status, attempts, ms, reason, at, key, model, worker } = event;
        this.dev = { status, attempts, ms, at, ...textIn({ reason, model, worker }) };
        this.key = key;
        return;
      }
      case 'qa:finished': {
        const { status, reason, verdicts, at, model, worker } = event;
        if (status !== 'NONE') this.qa = { status, verdicts, at, ...textIn({ reason, model, worker }) };
        return;
      }
      case 'item:recorded':
        if (event.from === 'qa' && event.to === 'in_progress') this.#sentBack(event);
        return;
      case 'item:withdrawn':
        delete this.qa;
    }
  }

  /** The dev's last attempt looked like a success, but was not. */
  #sentBack({ at, reason = '' }: Extract<NightshiftEvent, { type: 'item:recorded' }>): void {
    const { number, worker } = this.attempts.pop() ?? { number: 1 };
    const failed = { status: FAILED_BY_QA, reason: `${FAILED_BY_QA}: ${reason}` };
    this.attempts.push({ number, at, ...failed, ...textIn({ worker }) });
  }
}

const FAILED_BY_QA = 'FAILED (qa)';

/** Without absent values and values that are not text: a journal may contain anything. */
function textIn<K extends string>(texts: Record<K, unknown>): { [N in K]?: string } {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => typeof text === 'string')) as {
    [N in K]?: string;
  };
}
