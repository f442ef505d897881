import type { Difference } from '../app/edit/proposal.ts';
import { printable } from '../core/text/printable.ts';

export function differenceLines(difference: Difference): string[] {
  if ('env' in difference) return [`.env: ${difference.env}`];
  const { file, lines } = difference;
  return [`--- ${file} (in force)`, '+++ proposed', ...lines].map(printable);
}

export function inForceLines(files: readonly string[], isRunning: boolean): string[] {
  const when = isRunning ? 'counts from the next item' : 'in force';
  return files.map((file) => `${file}: ${when}`);
}
