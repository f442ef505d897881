/**
 * Shortens a text, keeping the beginning, which says what, and the end, which says why. Mask the text first: a cut
 * through a secret would leave a part that no mask finds.
 */
export function shorten(text: string, most: number): string {
  if (text.length <= most) return text;
  const gap = '\n[...]\n';
  const head = Math.floor(most / 4);
  const tail = most - head - gap.length;
  return `${text.slice(0, head).replace(/[\ud800-\udbff]$/, '')}${gap}${text.slice(-tail).replace(/^[\udc00-\udfff]/, '')}`;
}
