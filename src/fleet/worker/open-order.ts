import { missingNeeds } from '../needs.ts';
import { type Envelope, PROTOCOL, readEnvelope, readSentOrder, type SentOrder } from '../protocol.ts';
import type { Refused } from './order-run.ts';

interface OrderTerms {
  /** Of its job. */
  readonly id: string;
  readonly offers: readonly string[];
  verify(envelope: Envelope): boolean;
}

/** Whoever controls the database may have written or changed the order, or where it waits. */
export function openOrder(data: unknown, { id, offers, verify }: OrderTerms): SentOrder | Refused {
  const envelope = readEnvelope(data);
  if (!envelope || !verify(envelope)) return { refused: 'it is not signed by the coordinator that --key names' };
  const sent = readSentOrder(envelope.body);
  if (!sent) return { refused: 'this version of Nightshift cannot read it' };
  if (sent.id !== id) return { refused: 'it is not signed by the coordinator that --key names' };
  if (sent.protocol !== PROTOCOL)
    return { refused: `it has protocol ${sent.protocol}, but this worker has ${PROTOCOL}` };
  // Only needs that a worker can't gain or lose: agents, places and time may have changed meanwhile.
  const lasting = sent.needs.filter((need) => /^(role|label|secret|key):/.test(need));
  const [missing] = missingNeeds(lasting, offers);
  return missing === undefined ? sent : { refused: `this worker has no ${missing}` };
}
