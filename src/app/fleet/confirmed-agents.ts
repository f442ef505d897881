import type { Agent, Question, Session } from '../../agents/agent.ts';

type FindAgent = (name: string) => Agent | undefined;

/**
 * Agents that are asked nothing before this worker knows that it still has the order: some have a program that was
 * started long before.
 */
export function confirmedAgents(find: FindAgent, confirmed: () => Promise<void>): FindAgent {
  return (name) => {
    const agent = find(name);
    if (!agent) return undefined;
    return {
      ...agent,
      open: async (opening) => {
        const session = await agent.open(opening);
        return confirmedSession(session, opening.signal, confirmed);
      },
    };
  };
}

function confirmedSession(session: Session, signal: AbortSignal, confirmed: () => Promise<void>): Session {
  return {
    get remembers() {
      return session.remembers;
    },
    ask: async (question: Question) => {
      await unlessAborted(confirmed(), signal);
      return signal.aborted ? { kind: 'aborted' } : session.ask(question);
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}

/** Resolves at the latest when the signal aborts. */
async function unlessAborted(done: Promise<void>, signal: AbortSignal): Promise<void> {
  let onAbort = () => {};
  const aborted = new Promise<void>((resolve) => {
    onAbort = resolve;
    signal.addEventListener('abort', onAbort, { once: true });
    if (signal.aborted) resolve();
  });
  await Promise.race([done, aborted]);
  signal.removeEventListener('abort', onAbort);
}
