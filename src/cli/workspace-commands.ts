import type { Command } from 'commander';
import type { Access } from './access.ts';
import type { CommandAction } from './program.ts';
import { collect } from './table-options.ts';

/** Adds a command: its usage, its description, whether it writes, and how it is loaded. */
export type AddCommand = (
  usage: string,
  description: string,
  access: Access,
  load: () => Promise<{ run: CommandAction }>,
) => Command;

/** Listing reads; `prune` removes. */
const workspacesAccess: Access = (args, options) => (args.includes('prune') && !options.dryRun ? 'writes' : 'reads');

/** The commands for the workspaces of rows. */
export function addWorkspaceCommands(add: AddCommand): void {
  add(
    'workspaces [shift] [verb]',
    'list the workspaces of rows; with `prune`, remove those that hold nothing to lose',
    workspacesAccess,
    () => import('./commands/workspaces.ts'),
  )
    .option('--dry-run', 'prune: only show what would be removed')
    .option('--force-row <row>', 'prune: also remove this one, whatever it holds; may be repeated', collect);
  add(
    'diff <shift> <row>',
    'show what a row changed, as a patch against its base',
    'reads',
    () => import('./commands/diff.ts'),
  )
    .option('--stat', 'files and numbers of lines instead of the patch')
    .option('--name-only', 'names of files instead of the patch');
}
