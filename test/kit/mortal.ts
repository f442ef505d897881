/** Stands for a process: it dies at a chosen moment, and what it would have done later never happens. */
export class Mortal {
  readonly #diesAt: number;
  #die: () => void = () => {};
  #moments = 0;
  #isDead = false;

  constructor(diesAt = Number.POSITIVE_INFINITY) {
    this.#diesAt = diesAt;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  /** How many moments it has seen: it could have died at each of them. */
  get moments(): number {
    return this.#moments;
  }

  readonly death = new Promise<'died'>((resolve) => {
    this.#die = () => resolve('died');
  });

  /** One more moment has come; false: it is dead. */
  lives(): boolean {
    if (!this.#isDead && ++this.#moments >= this.#diesAt) {
      this.#isDead = true;
      this.#die();
    }
    return !this.#isDead;
  }

  /** An object as this process sees it: each call of one of its asynchronous methods may be its last, or too late. */
  port<T extends object>(target: T): T {
    return new Proxy(target, {
      get: (_, name) => {
        const member = Reflect.get(target, name, target);
        if (typeof member !== 'function') return member;
        return (...args: unknown[]) => this.#call(() => member.apply(target, args));
      },
    });
  }

  #call(call: () => unknown): unknown {
    if (!this.lives()) return NEVER;
    return Promise.resolve(call()).then((value) => (this.lives() ? value : NEVER));
  }
}

const NEVER = new Promise<never>(() => {});
