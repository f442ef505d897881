import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign, verify } from 'node:crypto';
import type { Envelope, SentOrder } from './protocol.ts';

/**
 * Orders are signed with Ed25519: whoever controls the database can delay or drop orders, but can't make a worker run
 * anything that the coordinator did not write.
 */
export interface Signer {
  /** What workers are started with (`--key`). */
  readonly publicKey: string;
  seal(order: SentOrder): Envelope;
}

/** As text for a file. */
export function newSigningKey(): string {
  const { privateKey } = generateKeyPairSync('ed25519');
  return privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
}

/** Throws if the text is no Ed25519 key. */
export function signerFrom(pem: string): Signer {
  const key = createPrivateKey(pem);
  if (key.asymmetricKeyType !== 'ed25519') throw new Error(`it is a key for ${key.asymmetricKeyType}, not ed25519`);
  return {
    publicKey: rawPublic(createPublicKey(key)),
    seal: (order) => {
      const body = JSON.stringify(order);
      return { body, signature: sign(null, Buffer.from(body), key).toString('base64url') };
    },
  };
}

/** Undefined if the text is no public key. */
export function verifierFrom(text: string): ((envelope: Envelope) => boolean) | undefined {
  if (!/^[A-Za-z0-9_-]{43}$/.test(text)) return undefined;
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x: text } });
  return ({ body, signature }) => verify(null, Buffer.from(body), key, Buffer.from(signature, 'base64url'));
}

function rawPublic(key: KeyObject): string {
  return key.export({ format: 'jwk' }).x!;
}
