import type { Agent, Question, Session } from '../../agents/agent.ts';
import { unlessAborted } from '../../core/model/unless-aborted.ts';

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
      await unlessAborted(confirmed(), signal).catch(() => {});
      return signal.aborted ? { kind: 'aborted' } : session.ask(question);
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
