import type { FileDeed } from '../app/init-project.ts';
import { count } from '../core/text/count.ts';

export function fileLines(files: readonly FileDeed[]): string[] {
  const of = (wanted: FileDeed['deed']) => files.filter(({ deed }) => deed === wanted);
  const unchanged = of('unchanged').length;
  return [
    ...(['written', 'updated', 'removed'] as const).flatMap((deed) => of(deed).map(({ path }) => `${deed} ${path}`)),
    ...(unchanged > 0 ? [`${count(unchanged, 'file')} up to date`] : []),
    ...(files.every(({ deed }) => deed === 'absent') ? ['There was nothing to remove.'] : []),
  ];
}

/** Files that were left alone. */
export function keptLines(files: readonly FileDeed[]): string[] {
  const kept = files.filter(({ deed }) => deed === 'kept');
  return kept.map(
    ({ path }) => `left alone: ${path} was not written by Nightshift, or was edited (--force replaces it)`,
  );
}
