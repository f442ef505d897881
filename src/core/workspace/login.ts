/**
 * Why `repo` may have no login: it would be in the workspace's record, in the mirror and in error messages, and agents
 * get the variables of `.env` and the cells of their row, so they could push with it.
 */
export const LOGIN_PROBLEM = 'has a login in its address, which agents could read';

export const LOGIN_REMEDY =
  'leave the login out, and let git log in itself: with an SSH address, a credential helper, or `gh auth setup-git`';

/** Over HTTP, a token may stand in place of the user name. Over SSH, a user name is no secret. */
const LOGIN = /^(?:https?:\/\/[^/?#]*@|(?:[a-z][a-z0-9+.-]*:\/\/)?[^/?#@]*:[^/?#@]*@)/i;

/** Whether an address has a user name or password that must not be written down. */
export function hasLogin(address: string): boolean {
  return LOGIN.test(address);
}

/** For messages and names: addresses may carry a token. */
export function withoutLogin(text: string): string {
  return text.replace(/\/\/[^/@\s]+@/g, '//');
}

/** An address that other machines can use with their own login. Over SSH, it keeps the user name. */
export function addressWithoutLogin(address: string): string {
  const withoutUser = address.replace(/^(https?:\/\/)[^/?#]*@/i, '$1');
  return withoutUser.replace(/^([a-z][a-z0-9+.-]*:\/\/[^/?#@:]*):[^/?#@]*@/i, '$1@');
}
