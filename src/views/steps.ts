import type { StepsVersion } from '../app/steps.ts';
import { listed } from '../core/text/count.ts';
import { localTime } from '../core/text/local-time.ts';
import { oneLine } from '../core/text/printable.ts';

export function stepsLines(task: string, versions: readonly StepsVersion[], now: number): string[] {
  if (versions.length === 0) return [`${task} has one version, the file itself: no run has used it yet.`];
  return versions.flatMap((version) => versionLines(version, now));
}

function versionLines(steps: StepsVersion, now: number): string[] {
  const { number, version, current, at, run, batch, summary, lessons = [] } = steps;
  // What a person decided about lessons, or an earlier run left, belongs to no batch.
  const time = localTime(at ?? '', now);
  const when = batch === 0 ? `changed ${time}` : `learned ${time}, batch ${batch} of run ${run}`;
  const origin = at === undefined ? 'written by you' : `${when}: ${oneLine(summary ?? '')}`;
  return [
    `${number} ${version}${current ? ' (in force)' : ''}  ${origin}`,
    ...lessons.map(({ text, rows, attempts }) => {
      const from = rows.length === 0 ? '' : ` (from ${listed('row', rows)}; ${listed('attempt', attempts)})`;
      return `    ${oneLine(text)}${from}`;
    }),
  ];
}
