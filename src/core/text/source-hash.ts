import { createHash } from 'node:crypto';

/** How a Content-Security-Policy names an inline script or style sheet. */
export function sourceHash(source: string): string {
  return `sha256-${createHash('sha256').update(source).digest('base64')}`;
}
