import { resolve } from 'node:path';
import { agentNames } from '../../agents/registry.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { nearest } from '../../core/model/names.ts';
import type { Table } from '../../formats/table.ts';
import { findRoot, type ShiftPaths } from '../../store/folder/layout.ts';
import { createShift } from '../../store/folder/new-shift.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';

export async function run(io: Io, [name = '']: readonly string[], options: Options): Promise<number> {
  const { agent, from, parallel } = options;
  const paths = await create(io, name, {
    agent,
    parallel,
    from: from === undefined ? undefined : resolve(io.cwd, from),
  });
  if (options.json) io.print(JSON.stringify({ shift: name, folder: paths.folder }));
  else {
    io.print(`${name} is in ${paths.folder}`);
    io.print(`Next: \`nightshift add-task ${name} TASK\` adds what is to be done with each row.`);
  }
  return EXIT.done;
}

interface Wishes {
  readonly agent?: string | undefined;
  readonly parallel?: boolean | undefined;
  readonly from?: string | Table | undefined;
}

export async function create(io: Io, name: string, { agent, parallel = false, from }: Wishes): Promise<ShiftPaths> {
  if (agent !== undefined && !agentNames.includes(agent)) {
    const near = nearest(agent, agentNames);
    const choice = `agents are: ${agentNames.join(', ')}`;
    const hint = near ? `did you mean ${near}? ${choice}` : choice;
    throw new NightshiftError('usage', `there is no agent ${JSON.stringify(agent)}`, hint);
  }
  return createShift(findRoot(io.cwd) ?? io.cwd, {
    name,
    created: new Date(io.now()).toISOString().slice(0, 10),
    parallel,
    settings: agent === undefined ? {} : { agent },
    from,
  });
}
