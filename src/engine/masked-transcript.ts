import type { Session } from '../agents/agent.ts';
import type { TranscriptEntry } from '../core/events.ts';
import type { Mask } from '../core/mask.ts';

type Add = (entry: TranscriptEntry) => void;

/**
 * Opens a session whose transcript holds no secret (promise S4). Output comes in pieces that may cut a secret in two, so
 * each of the two streams has a mask of its own, which is at its end with each answer; everything else comes whole.
 */
export async function openMasked(mask: Mask, add: Add, open: (transcript: Add) => Promise<Session>): Promise<Session> {
  const streams = new Map<TranscriptEntry['kind'], ReturnType<Mask['stream']>>();
  const put = (kind: TranscriptEntry['kind'], text: string) => {
    if (text !== '') add({ kind, text });
  };
  const session = await open(({ kind, text }) => {
    if (kind !== 'output' && kind !== 'error') {
      put(kind, mask.text(text));
      return;
    }
    const stream = streams.get(kind) ?? mask.stream();
    streams.set(kind, stream);
    put(kind, stream.push(text));
  });
  return {
    async ask(question) {
      const answer = await session.ask(question);
      for (const [kind, stream] of streams) put(kind, stream.end());
      return answer;
    },
    [Symbol.asyncDispose]: () => session[Symbol.asyncDispose](),
  };
}
