import { fleetAddress } from '../../app/fleet/fleet-address.ts';
import { parseDuration } from '../../core/model/duration.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { localTime } from '../../core/text/local-time.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';
import { StopSignals } from '../stop-signals.ts';
import { readVersion } from '../version.ts';

const ROLES = ['dev', 'qa', 'manager'];

export async function run(io: Io, _: readonly string[], options: Options): Promise<number> {
  const { runWorker } = await import('../../app/fleet/run-worker.ts');
  const graceMs = duration(options.grace, '--grace')!;
  const lifeMs = duration(options.for, '--for');
  refuseNoTime(lifeMs, graceMs, options);
  using stop = new StopSignals(process, graceMs);
  const tell = (message: string) =>
    io.print(
      options.json ? JSON.stringify({ at: new Date(io.now()).toISOString(), message }) : `${clock(io)} ${message}`,
    );
  await runWorker(
    {
      address: fleetAddress(io, options.url, options.insecure === true),
      slots: slots(options.slots),
      key: key(options.key ?? io.env.NIGHTSHIFT_FLEET_KEY),
      name: name(options.name),
      labels: list(options.labels),
      roles: roles(options.roles),
      root: options.root,
      envFile: options.envFile,
      secretNames: list(options.secrets),
      graceMs,
      lifeMs,
      idleMs: duration(options.exitWhenIdle, '--exit-when-idle'),
      version: readVersion(),
      tell,
    },
    stop,
    io,
  );
  return EXIT.done;
}

/** With seconds, unlike times that are only shown: this is a log. */
function clock(io: Io): string {
  const at = new Date(io.now());
  return `${localTime(at.toISOString())}:${String(at.getSeconds()).padStart(2, '0')}`;
}

function list(text: string | undefined): string[] {
  return (text ?? '').split(',').flatMap((each) => each.trim() || []);
}

function slots(text: string): number {
  const number = /^\d+$/.test(text) ? Number(text) : 0;
  if (number >= 1 && number <= 1000) return number;
  throw new NightshiftError(
    'usage',
    `--slots ${JSON.stringify(text)} is not a number from 1 to 1000`,
    'write --slots 8',
  );
}

function key(text: string | undefined): string {
  if (text) return text;
  const hint = 'add --key KEY (`nightshift fleet init` and `start --fleet` print it), or set NIGHTSHIFT_FLEET_KEY';
  throw new NightshiftError('usage', 'the public key of the coordinator is missing', hint);
}

function name(text: string | undefined): string | undefined {
  if (text === undefined || text.trim() !== '') return text;
  throw new NightshiftError('usage', '--name is empty', 'write --name build-1, or leave it out');
}

function roles(text: string): string[] {
  const given = list(text);
  const unknown = given.find((role) => !ROLES.includes(role));
  if (unknown === undefined && given.length > 0) return given;
  throw new NightshiftError('usage', `unknown role ${JSON.stringify(unknown ?? '')}`, `roles are: ${ROLES.join(', ')}`);
}

/** The last part of `--for` is the grace: it would never take an order. */
function refuseNoTime(lifeMs: number | undefined, graceMs: number, { for: life, grace }: Options): void {
  if (lifeMs === undefined || lifeMs > graceMs) return;
  throw new NightshiftError(
    'usage',
    `--for ${life} leaves no time for orders: the last ${grace} of it are for running ones (--grace)`,
    'make --for longer, or --grace shorter',
  );
}

function duration(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined) return milliseconds;
  throw new NightshiftError(
    'usage',
    `${flag} ${JSON.stringify(text)} is not a time`,
    'write it like 90s, 30m or 5h30m',
  );
}
