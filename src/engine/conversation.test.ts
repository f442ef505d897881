import { expect, test } from 'vitest';
import type { Agent, Answer, Opening } from '../agents/agent.ts';
import type { Emit } from '../core/events.ts';
import { createMask } from '../core/mask.ts';
import { Conversation } from './conversation.ts';
import { Transcript } from './transcript.ts';

async function spentBy(answer: Answer, reported: object) {
  const told: Parameters<Emit>[0][] = [];
  const subject = { role: 'dev' as const, task: 'work', key: 'k', agent: 'any' };
  const transcript = new Transcript(
    (happening) => told.push(happening),
    createMask({}),
    () => subject,
  );
  const agent = {
    open: async () => ({ remembers: true, ask: async () => answer, async [Symbol.asyncDispose]() {} }),
  } as unknown as Agent;
  await using conversation = new Conversation(agent, {} as Opening, transcript);
  await conversation.ask({ whole: () => '', schema: {}, steps: [], environment: {} }, async () => ({
    usage: reported,
  }));
  const inJournal = told.flatMap((each) => (each.type === 'usage:spent' ? [each.usage] : []));
  return { usage: conversation.usage, inJournal };
}

test('X6 what a report says of its cost counts only where the program tells nothing', async () => {
  const claimed = { inputTokens: 7, outputTokens: 1, costUsd: 1000 };
  expect((await spentBy({ kind: 'report', report: {} }, claimed)).inJournal).toEqual([claimed]);
  const counted = { inputTokens: 5, outputTokens: 2, costUsd: 0.5 };
  const { usage, inJournal } = await spentBy({ kind: 'report', report: {}, usage: counted }, claimed);
  expect(usage).toEqual(counted);
  expect(inJournal).toEqual([counted]);
});
