import { expect, test } from 'vitest';
import type { Agent, Answer, Opening } from '../../agents/agent.ts';
import type { Emit, TranscriptEntry } from '../../core/model/events.ts';
import type { Usage } from '../../core/model/model.ts';
import { NO_MASK } from '../../core/text/mask.ts';
import { Conversation } from './conversation.ts';
import { Transcript } from './transcript.ts';

/** Told while it works, and then the answers, one for each question. `most`: how much may be spent. */
async function spentBy(told: readonly Usage[], answers: Answer[], most = Number.POSITIVE_INFINITY) {
  const happened: Parameters<Emit>[0][] = [];
  const subject = { role: 'dev' as const, task: 'work', key: 'k', agent: 'any' };
  const transcript = new Transcript(
    (happening) => happened.push(happening),
    NO_MASK,
    () => subject,
  );
  const open = async (opening: { transcript: (entry: TranscriptEntry) => void }) => ({
    remembers: true,
    async ask() {
      for (const usage of told) opening.transcript({ kind: 'usage', usage });
      return answers.shift()!;
    },
    async [Symbol.asyncDispose]() {},
  });
  const spent = new AbortController();
  await using conversation: Conversation = new Conversation(
    { open } as unknown as Agent,
    { role: 'dev', mask: NO_MASK } as Opening,
    transcript,
    spent.signal,
  );
  const ask = () => {
    if ((conversation.usage.costUsd ?? 0) >= most) spent.abort('used up');
    return conversation.ask({ whole: () => '', steps: [], environment: {} }, () => ({ unusable: 'it is' }));
  };
  const reply = await ask();
  const inJournal = happened.flatMap((each) => (each.type === 'usage:spent' ? [each.usage] : []));
  return { usage: conversation.usage, inJournal, reply, ask };
}

const counted = { inputTokens: 5, outputTokens: 2, costUsd: 0.5 };
const trouble = { reason: 'gone' };

test.each<Answer>([
  { kind: 'report', report: { usage: { cost_usd: 1000 } } },
  { kind: 'no-report', reason: 'silence' },
  { kind: 'failed', reason: 'no' },
  { kind: 'trouble', trouble },
  { kind: 'aborted' },
])('X6 what an answer cost counts whatever it is, and what its model says does not: %j', async (answer) => {
  const isAskedAgain = answer.kind === 'report' || answer.kind === 'no-report';
  const { usage, inJournal } = await spentBy(
    [],
    [
      { ...answer, usage: counted },
      { kind: 'aborted', usage: counted },
    ],
  );
  expect(inJournal).toEqual(isAskedAgain ? [counted, counted] : [counted]);
  expect(usage.costUsd).toBe(isAskedAgain ? 1 : 0.5);
});

test('X6 what was told while it worked counts once, also where its answer leaves it out', async () => {
  const told = await spentBy([counted, counted], [{ kind: 'trouble', trouble }]);
  expect([told.usage.costUsd, told.inJournal]).toEqual([1, [counted, counted]]);
  const all = { inputTokens: 12, outputTokens: 4, costUsd: 1.25 };
  const more = await spentBy([counted, counted], [{ kind: 'failed', reason: 'no', usage: all }]);
  expect([more.usage, more.inJournal.at(-1)]).toEqual([all, { inputTokens: 2, costUsd: 0.25 }]);
});

test('X6 at a limit nothing more is asked; only a report is asked for once more, whose work is paid for', async () => {
  const answer: Answer = { kind: 'no-report', reason: 'silence', usage: counted };
  const answers = [answer, answer, answer];
  const { reply, ask } = await spentBy([], answers, 0.5);
  expect([reply.kind, answers.length]).toEqual(['unusable', 1]);
  expect(await ask()).toEqual({ kind: 'trouble', trouble: { reason: 'used up', isLimit: true } });
  expect(answers).toHaveLength(1);
});
