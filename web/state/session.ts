import { isRefused, openSession } from './request.ts';

/**
 * Exchanges the token in the fragment of the address for a cookie that scripts can't read, and removes it from the
 * address bar and the history of the browser.
 */
export async function exchangeToken(): Promise<void> {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) return;
  history.replaceState(null, '', `${location.pathname}${location.search}`);
  const reply = await openSession(token);
  if ('failure' in reply && !reply.failure.isSilent) isRefused.value = true;
}
