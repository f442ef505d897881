import type { StepsVersion } from '../app/steps.ts';
import { oneLine } from '../core/text/printable.ts';
import { listed } from './plain.ts';

export function stepsLines(task: string, versions: readonly StepsVersion[]): string[] {
  if (versions.length === 0) return [`${task} has one version, the file itself: no run has used it yet.`];
  return versions.flatMap(versionLines);
}

function versionLines({ number, version, current, at, run, batch, summary, lessons = [] }: StepsVersion): string[] {
  // What a person decided about lessons, or an earlier run left, belongs to no batch.
  const when = batch === 0 ? `changed ${at}` : `learned ${at}, batch ${batch} of run ${run}`;
  const origin = at === undefined ? 'written by you' : `${when}: ${oneLine(summary ?? '')}`;
  return [
    `${number} ${version}${current ? ' (in force)' : ''}  ${origin}`,
    ...lessons.map(({ text, rows, attempts }) => {
      const from = rows.length === 0 ? '' : ` (from ${listed('row', rows)}; ${listed('attempt', attempts)})`;
      return `    ${oneLine(text)}${from}`;
    }),
  ];
}
