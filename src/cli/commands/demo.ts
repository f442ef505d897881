import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(_io: Io, _args: readonly string[], _options: Options): Promise<number> {
  throw new Error('being written');
}
