/** Whether a row does without lessons: the same rows in every run. `share` is from 0 to 1. */
export function isHeldOut(_item: string, _share: number): boolean {
  throw new Error('comes soon');
}
