import type { Finding } from '../app/doctor/finding.ts';
import { count } from '../core/text/count.ts';
import { printable } from '../core/text/printable.ts';

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
