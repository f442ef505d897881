import { createHash, randomBytes } from 'node:crypto';

export function newToken(): string {
  return randomBytes(12).toString('hex');
}

/** For files that agents can read: a hash of a token can't write. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('hex');
}
