import type { Command } from 'commander';
import type { Access } from './access.ts';
import type { AddCommand } from './workspace-commands.ts';

const fleetAccess: Access = ([verb]) => (verb === 'status' ? 'reads' : 'writes');

const FLEET_HELP = `
  fleet init           create the schema and two roles; print their addresses, and the key for workers
  fleet status         show shifts and workers, what they are doing, and why a worker gets no orders
  fleet drain WORKER   tell a worker to take no new orders, finish those it has, and exit
  fleet stop           stop all coordinators and workers once running orders have finished

All of them work without a running coordinator. --url defaults to NIGHTSHIFT_FLEET_URL. See docs/fleet.md.`;

const WORKER_HELP = `
--url defaults to NIGHTSHIFT_FLEET_URL, --key to NIGHTSHIFT_FLEET_KEY. After SIGTERM or Ctrl-C, running orders have
--grace to finish. After that, or a second Ctrl-C, the worker gives them back, and other workers start them over.`;

/** Which database. */
function addAddress(command: Command): Command {
  return command
    .option('--url <url>', 'the database: postgres://USER:PASSWORD@HOST/DATABASE?sslmode=verify-full')
    .option('--insecure', 'allow a connection over the network without verified TLS');
}

/** The commands for running a shift on many machines. */
export function addFleetCommands(add: AddCommand): void {
  addAddress(
    add(
      'worker',
      'run agents on this machine for the coordinators of a fleet',
      'writes',
      () => import('./commands/worker.ts'),
    ),
  )
    .option('--slots <n>', 'number of orders to run at once', '4')
    .option('--key <key>', "the coordinator's public key, which `start --fleet` and `fleet init` print")
    .option('--name <name>', 'the name of this worker (default: the host name and the process id)')
    .option('--labels <labels>', 'labels that tasks can require with `worker-labels`: gpu,eu')
    .option('--roles <roles>', 'take orders for these roles only', 'dev,qa,manager')
    .option('--root <dir>', 'the project, on a volume that all machines mount; for tasks with `workspace: shared`')
    .option('--env-file <file>', 'secrets for shifts, as NAME=VALUE lines; values stay on this machine')
    .option('--secrets <names>', 'environment variables that are secrets for shifts: API_KEY,TOKEN')
    .option('--grace <time>', 'how long running orders have to finish when the worker is stopped', '60s')
    .option('--for <time>', 'exit after this time, and take no order that could take longer: 5h30m')
    .option('--exit-when-idle <time>', 'exit after this time without an order: 10m')
    .addHelpText('after', WORKER_HELP);
  addAddress(
    add(
      'fleet <verb> [worker]',
      'manage a fleet of workers: init, status, drain, stop',
      fleetAccess,
      () => import('./commands/fleet.ts'),
    ),
  ).addHelpText('after', FLEET_HELP);
}
