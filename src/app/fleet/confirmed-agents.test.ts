import { expect, test } from 'vitest';
import type { Agent, Opening, Question } from '../../agents/agent.ts';
import { confirmedAgents } from './confirmed-agents.ts';

const question = {} as Question;

/** An agent whose program was started long before, on a worker that has just woken up. */
async function asked(confirmed: Promise<void>, signal: AbortSignal) {
  const questions: Question[] = [];
  const session = {
    remembers: true,
    ask: async (each: Question) => {
      questions.push(each);
      return { kind: 'no-report' as const, reason: 'x' };
    },
    [Symbol.asyncDispose]: async () => {},
  };
  const agent = { name: 'a', open: async () => session } as unknown as Agent;
  const opened = await confirmedAgents(
    () => agent,
    () => confirmed,
  )('a')!.open({ signal } as Opening);
  return { answer: opened.ask(question), questions };
}

test('an agent is asked once the orders are confirmed', async () => {
  let confirm = () => {};
  const confirmed = new Promise<void>((resolve) => {
    confirm = resolve;
  });
  const { answer, questions } = await asked(confirmed, new AbortController().signal);
  await new Promise(setImmediate);
  expect(questions).toEqual([]);
  confirm();
  expect(await answer).toMatchObject({ kind: 'no-report' });
  expect(questions).toEqual([question]);
});

test('an agent is not asked if its order is lost meanwhile', async () => {
  const stop = new AbortController();
  const { answer, questions } = await asked(new Promise(() => {}), stop.signal);
  stop.abort();
  expect(await answer).toEqual({ kind: 'aborted' });
  expect(questions).toEqual([]);
});
