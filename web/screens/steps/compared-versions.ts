import type { StepsAnswer, StepsVersionAnswer } from '../../../src/core/page/history-answers.ts';

export interface ComparedVersions {
  readonly from: StepsVersionAnswer;
  readonly to: StepsVersionAnswer;
}

/** The versions that the address names; otherwise the latest change. Undefined if there is only one version. */
export function comparedVersions(
  { versions }: Pick<StepsAnswer, 'versions'>,
  named: { readonly from?: number | undefined; readonly to?: number | undefined },
): ComparedVersions | undefined {
  if (versions.length < 2) return undefined;
  const find = (number: number | undefined) => versions.find((version) => version.number === number);
  const to = find(named.to) ?? versions.find(({ isCurrent }) => isCurrent) ?? versions.at(-1)!;
  const before = versions[versions.indexOf(to) - 1];
  const from = find(named.from) ?? before ?? to;
  return { from, to };
}
