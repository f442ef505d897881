import type { Report, ReportGroup } from '../../app/report/report.ts';
import { formatDuration } from '../../core/model/duration.ts';
import { STATUSES } from '../../core/model/status.ts';
import { count } from '../../core/text/count.ts';
import { markdownHeader, markdownRow, markdownText } from '../markdown.ts';
import { usageText } from '../summary.ts';
import { needsOf } from './needs-you.ts';
import { verdictOf } from './verdict.ts';

/** Bounds of the page, however large the shift is: a job summary on GitHub may have 1 MiB. */
const GROUPS_SHOWN = 50;
const ROWS_SHOWN = 20;
const REASON_LENGTH = 600;

/** The short form of a report, for a pull request, a chat message or a job summary. */
export function markdownReport(report: Report): string[] {
  const { status, newlyFailing, passingAgain, groups } = report;
  const spent = [formatDuration(status.ms), usageText(status.usage)].filter((part) => part !== undefined).join(', ');
  const turns = [
    ...(newlyFailing.length > 0 ? [`${newlyFailing.length} newly failing`] : []),
    ...(passingAgain.length > 0 ? [`${passingAgain.length} passing again`] : []),
  ];
  const needs = needsOf(report).map(({ text, command }) => `- ${markdownText(text)} ${markdownCode(command)}`);
  return [
    `# ${markdownText(status.shift)}`,
    '',
    markdownText(verdictOf(report)),
    '',
    `Spent: ${markdownText(spent)}.${turns.length > 0 ? ` Since the run before: ${turns.join(', ')}.` : ''}`,
    '',
    ...markdownHeader(['task', ...STATUSES]),
    ...status.tasks.map(({ task, counts }) => markdownRow([task, ...STATUSES.map((name) => String(counts[name]))])),
    ...failureTable(groups),
    ...(needs.length > 0 ? ['', ...needs] : []),
  ];
}

function failureTable(groups: readonly ReportGroup[]): string[] {
  if (groups.length === 0) return [];
  const hidden = groups.length - GROUPS_SHOWN;
  return [
    '',
    ...markdownHeader(['failed', 'rows', 'attempts', 'reason']),
    ...groups.slice(0, GROUPS_SHOWN).map(({ task, items, reason }) => {
      const rows = items.slice(0, ROWS_SHOWN).map(({ row }) => row);
      const more = items.length > ROWS_SHOWN ? ` and ${items.length - ROWS_SHOWN} more` : '';
      const attempts = Math.max(...items.map((item) => item.attempts));
      return markdownRow([task, `${rows.join(', ')}${more}`, String(attempts), reason.slice(0, REASON_LENGTH)]);
    }),
    ...(hidden > 0 ? ['', `${count(hidden, 'more reason')}.`] : []),
  ];
}

/** A command: in a code span, which nothing in it can end. */
function markdownCode(command: string): string {
  const longest = Math.max(0, ...(command.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}${command}${fence}`;
}
