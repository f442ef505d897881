import { NightshiftError } from '../core/model/errors.ts';

/** The query of a request. What is missing or no number is an error of the client. */
export class Query {
  readonly params: URLSearchParams;

  constructor(text: string) {
    this.params = new URLSearchParams(text);
  }

  get shift(): string {
    return this.text('shift');
  }

  optional(name: string): string | undefined {
    return this.params.get(name) ?? undefined;
  }

  text(name: string): string {
    const value = this.optional(name);
    if (value === undefined) throw new NightshiftError('usage', `the request has no ${name}`);
    return value;
  }

  /** A row, a version or an offset: a whole number from 0. */
  number(name: string): number {
    const value = this.text(name);
    if (/^\d{1,15}$/.test(value)) return Number(value);
    throw new NightshiftError('usage', `${name} is not a number: ${JSON.stringify(value)}`);
  }

  has(name: string): boolean {
    return this.params.has(name);
  }
}
