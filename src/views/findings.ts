import { count } from './plain.ts';
import { printable } from './printable.ts';

/** A finding of `doctor`: fine, worth knowing, or a problem. */
export interface Finding {
  readonly level: 'ok' | 'note' | 'problem';
  readonly shift?: string;
  readonly message: string;
  /** More lines. */
  readonly details?: readonly string[];
  /** What you can do. */
  readonly remedy?: string;
  readonly file?: string;
  readonly line?: number;
  /** Whether `doctor --fix` can fix it. */
  readonly fixable?: boolean;
}

const WIDTH = 'problem'.length;
const DETAILS_SHOWN = 20;

export function findingLines({ level, shift, message, details = [], remedy, file, line }: Finding): string[] {
  const margin = ' '.repeat(WIDTH + 2);
  const shown = details.slice(0, DETAILS_SHOWN);
  const more = details.length - shown.length;
  const below = [
    ...(file === undefined ? [] : [`at ${file}${line === undefined ? '' : `:${line}`}`]),
    ...shown.map((detail) => `- ${detail}`),
    ...(more > 0 ? [`- and ${more} more`] : []),
    ...(remedy === undefined ? [] : [remedy]),
  ];
  const subject = shift === undefined ? '' : `${shift}: `;
  return [`${level.padEnd(WIDTH)}  ${subject}${message}`, ...below.map((text) => margin + text)].map(printable);
}

export function diagnosisLine(findings: readonly Finding[]): string {
  const problems = findings.filter(({ level }) => level === 'problem').length;
  const fixable = findings.filter(({ fixable }) => fixable === true).length;
  const can = fixable > 0 ? ` \`nightshift doctor --fix\` can fix ${fixable} of them.` : '';
  return `${problems === 0 ? 'No problems.' : `${count(problems, 'problem')}.`}${can}`;
}
