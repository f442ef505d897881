import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

/** Wrong tokens that are allowed in a minute. */
const MOST_TRIES = 10;
const TRIES_WITHIN_MS = 60_000;
/** A browser may have to be started first. */
const TICKET_LIVES_MS = 60_000;

/** Who may ask: the token of the address opens a session, and its cookie proves it from then on. */
export class Session {
  readonly #token: string;
  readonly #cookie: { readonly name: string; readonly value: string };
  readonly #now: () => number;
  /** When wrong tokens came. */
  #tries: number[] = [];
  /** Until when each is valid. */
  readonly #tickets = new Map<string, number>();

  /** The cookie follows from token and port, so that it is still good after a restart. */
  constructor(token: string, port: number, now: () => number) {
    this.#token = token;
    // A browser sends the cookies of a host to all of its ports.
    const name = `nightshift-${port}`;
    this.#cookie = { name, value: createHmac('sha256', token).update(name).digest('base64url') };
    this.#now = now;
  }

  /** Stands for the token, once and only for a minute: the command lines of other programs are no secret. */
  ticket(): string {
    const ticket = randomBytes(32).toString('base64url');
    this.#tickets.set(ticket, this.#now() + TICKET_LIVES_MS);
    return ticket;
  }

  /** The value of `Set-Cookie`, if the token is right. */
  open(token: unknown): string | 'wrong' | 'too many tries' {
    const now = this.#now();
    this.#tries = this.#tries.filter((at) => now - at < TRIES_WITHIN_MS);
    if (this.#tries.length >= MOST_TRIES) return 'too many tries';
    if (typeof token !== 'string' || !(isSame(token, this.#token) || this.#useTicket(token))) {
      this.#tries.push(now);
      return 'wrong';
    }
    const { name, value } = this.#cookie;
    return `${name}=${value}; Path=/; HttpOnly; SameSite=Strict`;
  }

  #useTicket(token: string): boolean {
    for (const [ticket, until] of this.#tickets) {
      if (until < this.#now()) this.#tickets.delete(ticket);
      else if (isSame(token, ticket)) return this.#tickets.delete(ticket);
    }
    return false;
  }

  /** `headers`: the `Cookie` headers of a request. Another port may have set a cookie of the same name. */
  holds(headers: readonly string[]): boolean {
    const { name, value } = this.#cookie;
    const sent = headers.flatMap((header) => header.split(';')).map((cookie) => cookie.trim());
    return sent.some((cookie) => cookie.startsWith(`${name}=`) && isSame(cookie.slice(name.length + 1), value));
  }
}

/** Takes as long for a near miss as for any other. */
function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
