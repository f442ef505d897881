import { drainWorker, fleetStatus, initialiseFleet, stopAll } from '../../app/fleet/admin.ts';
import { fleetAddress } from '../../app/fleet/fleet-address.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { count } from '../../core/text/count.ts';
import { fleetStatusLines } from '../../views/fleet.ts';
import { newFleetLines } from '../../views/new-fleet.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

const VERBS = ['init', 'status', 'drain', 'stop'];

export async function run(io: Io, [verb, worker]: readonly string[], options: Options): Promise<number> {
  if (!VERBS.includes(verb!)) {
    throw new NightshiftError('usage', `unknown verb ${JSON.stringify(verb)}`, `verbs are: ${VERBS.join(', ')}`);
  }
  if (worker !== undefined && verb !== 'drain') {
    throw new NightshiftError('usage', `fleet ${verb} takes no argument`, `omit ${worker}`);
  }
  const address = fleetAddress(io, options.url, options.insecure === true);
  const { result, lines } = await act(verb!, worker, { address, io });
  if (options.json) io.print(JSON.stringify(result));
  else for (const line of lines) io.print(line);
  return EXIT.done;
}

interface Means {
  readonly address: ReturnType<typeof fleetAddress>;
  readonly io: Io;
}

async function act(verb: string, worker: string | undefined, { address, io }: Means) {
  switch (verb) {
    case 'init': {
      const result = await initialiseFleet(address, io);
      return { result, lines: newFleetLines(result) };
    }
    case 'status': {
      const result = await fleetStatus(address);
      return { result, lines: fleetStatusLines(result) };
    }
    case 'stop': {
      const result = await stopAll(address);
      const what = [result.shifts.join(', '), result.workers === 0 ? '' : count(result.workers, 'worker')].filter(
        Boolean,
      );
      const line =
        what.length === 0 ? 'nothing is running' : `stopping ${what.join(' and ')}; running orders may finish`;
      return { result, lines: [line] };
    }
    default: {
      if (worker === undefined) {
        const hint = '`nightshift fleet status` lists the workers';
        throw new NightshiftError('usage', 'fleet drain needs the name of a worker', hint);
      }
      const workers = await drainWorker(address, worker);
      return { result: { workers }, lines: [`${worker} takes no new orders, finishes those it has, and exits`] };
    }
  }
}
