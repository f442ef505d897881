import { widthOf } from './text-width.ts';

/** Where the page is; terminals make a link of it. */
export function pageLine(url: string): string {
  return `page: ${url}`;
}

/** For a live view: an address that was cut would lead nowhere, and a window that is open knows its token. */
export function shortPageLine(url: string, width: number): string {
  const line = pageLine(url);
  return widthOf(line) <= width ? line : pageLine(new URL('/', url).href);
}

/** After a run: the page ended with it. */
export function pageAgainLine(shift: string): string {
  return `The page has ended with the run. \`nightshift view ${shift}\` serves it again, at the same address.`;
}
