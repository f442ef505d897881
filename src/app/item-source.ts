import { resolve } from 'node:path';
import type { Items } from '../formats/items/items.ts';
import { readItems } from '../store/folder/new-shift.ts';
import type { World } from './world.ts';

export { describeItems } from '../formats/items/items.ts';

/** The items in a file of any format that Nightshift reads. */
export function readItemsFile({ cwd }: Pick<World, 'cwd'>, file: string): Promise<Items> {
  return readItems(resolve(cwd, file));
}
