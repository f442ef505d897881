import { signal } from '@preact/signals';
import type { ActAnswer, ActRequest } from '../../src/core/page/action.ts';
import type { ErrorAnswer } from '../../src/core/page/answers.ts';

/** The server no longer knows this browser: its token was replaced, or the address was typed without it. */
export const isRefused = signal(false);

/** An answer other than 2xx, or none. */
export interface Failure {
  readonly message: string;
  readonly hint?: string;
  /** No answer at all: the note about the connection says so already. */
  readonly isSilent?: true;
}

export type Reply<T> = { readonly value: T } | { readonly failure: Failure };

/** Never throws. Undefined: it was aborted. */
export async function ask<T>(path: string, signal: AbortSignal): Promise<Reply<T> | undefined> {
  const reply = await reach<T>(path, { signal });
  return signal.aborted ? undefined : reply;
}

export function act(request: ActRequest): Promise<Reply<ActAnswer>> {
  return post('/api/act', request);
}

export function openSession(token: string): Promise<Reply<unknown>> {
  return post('/api/session', { token });
}

/** The header can't come from a form of another site. */
function post<T>(path: string, body: unknown): Promise<Reply<T>> {
  const headers = { 'Content-Type': 'application/json', 'X-Nightshift': 'page' };
  return reach(path, { method: 'POST', headers, body: JSON.stringify(body) });
}

async function reach<T>(path: string, init: RequestInit): Promise<Reply<T>> {
  try {
    const response = await fetch(path, init);
    if (response.ok) return { value: response.status === 204 ? (undefined as T) : ((await response.json()) as T) };
    if (response.status === 401) isRefused.value = true;
    return { failure: await failureIn(response) };
  } catch {
    return { failure: { message: 'The server does not answer.', isSilent: true } };
  }
}

async function failureIn(response: Response): Promise<Failure> {
  try {
    const { error } = (await response.json()) as ErrorAnswer;
    return { message: error.message, ...(error.hint === undefined ? {} : { hint: error.hint }) };
  } catch {
    return { message: `The server answered with status ${response.status}.` };
  }
}

/** `/api/rows?shift=pages&from=0`; absent values are left out. */
export function apiPath(name: string, values: Readonly<Record<string, string | number | undefined>>): string {
  const params = new URLSearchParams();
  for (const [key, value] of Object.entries(values)) if (value !== undefined) params.set(key, String(value));
  return `/api/${name}?${params}`;
}
