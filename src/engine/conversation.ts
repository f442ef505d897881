import type { Agent, Answer, Opening, Question, Session } from '../agents/agent.ts';
import { sum } from '../core/history.ts';
import type { Usage } from '../core/model.ts';
import { reportAgainPrompt } from '../roles/prompt.ts';
import { expectReport, type Unusable } from '../roles/report.ts';
import type { Transcript } from './transcript.ts';

/** What is asked: all of it for somebody who knows nothing yet, less for somebody who remembers. */
export interface Asked extends Omit<Question, 'prompt'> {
  readonly whole: () => string;
  /** Absent: the whole of it again, and of somebody fresh. */
  readonly next?: () => string;
}

export type Reply<T> =
  | { readonly kind: 'report'; readonly report: T }
  /** Asked twice where that is possible, and still nothing that can be used. */
  | { readonly kind: 'unusable'; readonly reason: string }
  | Exclude<Answer, { kind: 'report' | 'no-report' }>;

/** A report may tell what the program does not. */
interface Telling {
  readonly usage: Usage;
  readonly compacted?: boolean;
}

/** Questions to one agent, in one session as long as it remembers; else each in a fresh one. */
export class Conversation implements AsyncDisposable {
  readonly #agent: Agent;
  readonly #opening: Omit<Opening, 'transcript'>;
  readonly #transcript: Transcript;
  #session: Session | undefined;
  #isLost = false;
  usage: Usage = {};
  compacted = false;
  /** That answered last, where its program tells it. */
  model: string | undefined;

  constructor(agent: Agent, opening: Omit<Opening, 'transcript'>, transcript: Transcript) {
    this.#agent = agent;
    this.#opening = opening;
    this.#transcript = transcript;
  }

  /** A session that was compacted has forgotten what it was told (rule D3). */
  get remembers(): boolean {
    return (this.#session?.remembers ?? false) && !this.#isLost;
  }

  /** Asks, reads the report, and asks for it once more if it can't be used. */
  async ask<T extends Telling>(asked: Asked, read: (raw: unknown) => Promise<T | Unusable>): Promise<Reply<T>> {
    const { whole, next, ...question } = asked;
    if (!next || !this.remembers) await this.forget();
    const first = await this.#put({ ...question, prompt: (next && this.remembers ? next : whole)() }, read);
    if (first.kind !== 'unusable' || !this.remembers) return first;
    return this.#put({ ...question, prompt: reportAgainPrompt(first.reason) }, read);
  }

  async #put<T extends Telling>(question: Question, read: (raw: unknown) => Promise<T | Unusable>): Promise<Reply<T>> {
    this.#session ??= await this.#agent.open({ ...this.#opening, transcript: this.#transcript.add });
    const answering = this.#session.ask(question);
    expectReport();
    const answer = await answering;
    this.#account(answer);
    this.model = answer.model ?? this.model;
    if (answer.kind === 'no-report') return { kind: 'unusable', reason: answer.reason };
    if (answer.kind !== 'report') return answer;
    const report = await read(answer.report);
    if ('unusable' in report) return { kind: 'unusable', reason: report.unusable };
    // What the program counted itself is not counted again, whatever its model says.
    this.#account(answer.usage === undefined ? report : { compacted: report.compacted === true });
    return { kind: 'report', report };
  }

  #account({ usage, compacted = false }: Partial<Telling>): void {
    this.usage = sum(this.usage, usage);
    this.#transcript.settle(usage);
    this.compacted ||= compacted;
    this.#isLost ||= compacted;
  }

  /** The inputs of the tools that may have written something, since this was asked last (rule D5). */
  takeCalls(): readonly string[] {
    return this.#transcript.takeCalls();
  }

  /** Whoever is asked next is somebody fresh. */
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
