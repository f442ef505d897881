import type { Agent, Answer, Opening, Question, Session } from '../../agents/agent.ts';
import { LONGEST_REASON, type Usage } from '../../core/model/model.ts';
import { sum } from '../../core/model/usage.ts';
import { shorten } from '../../core/text/shorten.ts';
import { reportSchema } from '../../roles/forms.ts';
import { reportAgainPrompt } from '../../roles/prompt.ts';
import { expectReport, type Unusable } from '../../roles/report.ts';
import type { Transcript } from './transcript.ts';

/** A question: `whole` for a session that knows nothing yet, `next` for one that remembers. */
export interface Inquiry extends Omit<Question, 'prompt' | 'schema'> {
  readonly whole: () => string;
  /** Absent: a fresh session gets `whole` again. */
  readonly next?: () => string;
}

export type Reply<T> =
  | { readonly kind: 'report'; readonly report: T }
  /** Asked twice where possible, and still no usable report. */
  | { readonly kind: 'unusable'; readonly reason: string }
  | Exclude<Answer, { kind: 'report' | 'no-report' }>;

/** Questions to one agent: in one session as long as it remembers, otherwise each in a fresh one. */
export class Conversation implements AsyncDisposable {
  readonly #agent: Agent;
  readonly #opening: Omit<Opening, 'transcript'>;
  readonly #transcript: Transcript;
  readonly #spent: AbortSignal;
  #session: Session | undefined;
  #isLost = false;
  usage: Usage = {};
  compacted = false;
  /** The model that answered last, if the program reports it. */
  model: string | undefined;

  /** `spent` aborts when nothing more may be asked; its reason says why. */
  constructor(agent: Agent, opening: Omit<Opening, 'transcript'>, transcript: Transcript, spent: AbortSignal) {
    this.#agent = agent;
    this.#opening = opening;
    this.#transcript = transcript;
    this.#spent = spent;
  }

  /** A compacted session has forgotten what it was told (rule D3). */
  get remembers(): boolean {
    return (this.#session?.remembers ?? false) && !this.#isLost;
  }

  /**
   * Asks, reads the report, and asks for it once more if it can't be used. At a limit nothing is asked (rule X6),
   * except once more for a report, because the work it describes is paid for.
   */
  async ask<T extends object>(asked: Inquiry, read: (raw: unknown) => T | Unusable): Promise<Reply<T>> {
    if (this.#spent.aborted) return { kind: 'trouble', trouble: { reason: String(this.#spent.reason), isLimit: true } };
    const { whole, next, ...rest } = asked;
    if (!next || !this.remembers) await this.forget();
    const isNext = next !== undefined && this.remembers;
    // An agent that runs scripts reads neither.
    const { runsSteps } = this.#agent;
    const question = { ...rest, schema: runsSteps ? {} : reportSchema(this.#opening.role) };
    const first = await this.#put({ ...question, prompt: runsSteps ? '' : (isNext ? next : whole)() }, read);
    if (first.kind !== 'unusable' || !this.remembers) return first;
    return this.#put({ ...question, prompt: reportAgainPrompt(first.reason) }, read);
  }

  async #put<T extends object>(question: Question, read: (raw: unknown) => T | Unusable): Promise<Reply<T>> {
    this.#session ??= await this.#agent.open({ ...this.#opening, transcript: this.#transcript.add });
    const answering = this.#session.ask(question);
    expectReport();
    const answer = await answering;
    // Before anything is judged: spending counts however the session ended.
    this.usage = sum(this.usage, this.#transcript.settle(answer.usage));
    if (answer.compacted) this.#lose();
    this.model = answer.model ?? this.model;
    if (answer.kind === 'no-report') return { kind: 'unusable', reason: this.#quote(answer.reason) };
    if (answer.kind === 'failed') return { ...answer, reason: this.#quote(answer.reason) };
    if (answer.kind === 'trouble') {
      const { trouble } = answer;
      return { ...answer, trouble: { ...trouble, reason: this.#quote(trouble.reason) } };
    }
    if (answer.kind !== 'report') return answer;
    const report = read(answer.report);
    if ('unusable' in report) return { kind: 'unusable', reason: report.unusable };
    // A report may say what the program does not.
    if ('compacted' in report && report.compacted === true) this.#lose();
    return { kind: 'report', report };
  }

  /** Output of a program may be long and contain secrets: it is masked before it is cut. */
  #quote(reason: string): string {
    return shorten(this.#opening.mask.text(reason), LONGEST_REASON);
  }

  #lose(): void {
    this.compacted = true;
    this.#isLost = true;
  }

  /** The inputs of tool calls that may have written, since the last call of this method (rule D5). */
  takeCalls(): readonly string[] {
    return this.#transcript.takeCalls();
  }

  /** The session may continue later: flushes the transcript and starts counting usage anew. */
  rest(): void {
    this.#transcript.flush();
    this.usage = {};
    this.compacted = false;
  }

  /** The next question goes to a fresh session. */
  async forget(): Promise<void> {
    const session = this.#session;
    this.#session = undefined;
    this.#isLost = false;
    await session?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.forget();
    this.#transcript[Symbol.dispose]();
  }
}
