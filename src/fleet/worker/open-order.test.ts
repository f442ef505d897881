import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { PROTOCOL, type SentOrder } from '../protocol.ts';
import { newSigningKey, signerFrom, verifierFrom } from '../signature.ts';
import { openOrder } from './open-order.ts';

const ID = randomUUID();
const NEEDS = ['key:ours', 'label:gpu', 'role:dev', 'secret:API_KEY', 'time:60', 'workspace:git'];
const settings = { agent: 'shell', timeoutMs: 60_000 };
const order = { task: 'work', role: 'dev', token: 't', settings, item: { index: 0, id: 'i' } };
const sent = {
  ...{ protocol: PROTOCOL, id: ID, shift: { key: 'k', name: 's' }, needs: NEEDS },
  work: { kind: 'item', order },
} as unknown as SentOrder;

const signer = signerFrom(newSigningKey());
const verify = verifierFrom(signer.publicKey)!;
/** What may end by itself is missing: time, and places. */
const OFFERS = ['key:ours', 'label:gpu', 'role:dev', 'secret:API_KEY'];

const opened = (order: SentOrder, { id = ID, offers = OFFERS, by = signer } = {}) =>
  openOrder(by.seal(order), { id, offers, verify });

test('an order of the coordinator is opened as it was sent', () => {
  expect(opened(sent)).toEqual(sent);
});

const unsigned = 'it is not signed by the coordinator that --key names';
test.each([
  ['of another coordinator', () => opened(sent, { by: signerFrom(newSigningKey()) }), unsigned],
  ['that was sent before, under another id', () => opened(sent, { id: randomUUID() }), unsigned],
  ['of another version', () => opened({ ...sent, protocol: 9 }), `it has protocol 9, but this worker has ${PROTOCOL}`],
  ['that is no order', () => opened({ id: ID } as SentOrder), 'this version of Nightshift cannot read it'],
  ['in no envelope', () => openOrder('order', { id: ID, offers: OFFERS, verify }), unsigned],
])('an order %s is refused', (_, open, refused) => {
  expect(open()).toEqual({ refused });
});

test.each(OFFERS)('an order that was moved to the queue of other needs is refused by a worker without %s', (need) => {
  const offers = OFFERS.filter((offer) => offer !== need);
  expect(opened(sent, { offers })).toEqual({ refused: `this worker has no ${need}` });
});
