import type { Command } from 'commander';
import { refuseInside } from '../app/access.ts';
import type { Io } from './io.ts';
import type { AddCommand } from './workspace-commands.ts';

const VIEW_HELP = `
The page is for you alone: it is served on 127.0.0.1, and the address holds the key. From another machine, forward the
port, run it there, and open its address here:

  ssh -L 8080:127.0.0.1:8080 HOST
  nightshift view --port 8080`;

/** The command that `start --view` starts. */
export const PAGE_BESIDE_RUN = '__page';

export function addViewCommand(add: AddCommand): void {
  add(
    'view [shift]',
    'show the shifts of this folder on a local web page',
    'writes',
    () => import('./commands/view.ts'),
  )
    .option('--port <n>', 'serve it on this port (default: the last one, or any)')
    .option('--host <address>', '127.0.0.1: the only address on which it is served')
    .option('--open', 'open it in a browser')
    .option('--read-only', 'leave out everything that changes a shift')
    .option('--new-token', 'make a new address; the old one is void')
    .addHelpText('after', VIEW_HELP);
}

export function addPageBesideRun(command: Command, io: Io, finish: (exitCode: number) => void): void {
  command.argument('[shift]').action(async (shift: string | undefined) => {
    refuseInside(io, `nightshift ${PAGE_BESIDE_RUN}`);
    const { run } = await import('./commands/page-beside-run.ts');
    finish(await run(io, shift));
  });
}
