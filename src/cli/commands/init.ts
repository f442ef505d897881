import { fileURLToPath } from 'node:url';
import {
  type FileDeed,
  HOOK_COMMAND,
  type InitResult,
  initProject,
  isOnPath,
  removeKit,
} from '../../app/init-project.ts';
import { writePlugin } from '../../app/plugin-folder.ts';
import { EXIT, NightshiftError } from '../../core/model/errors.ts';
import { fileLines, keptLines } from '../../views/init.ts';
import type { Io } from '../io.ts';
import type { Options } from '../program.ts';
import { readVersion } from '../version.ts';

export async function run(io: Io, _args: readonly string[], options: Options): Promise<number> {
  const { json, plugin, force, agent: program = 'opencode' } = options;
  if (plugin !== undefined) {
    if (program !== 'claude') throw new NightshiftError('usage', '--plugin is for Claude Code', 'add `--agent claude`');
    await tellPlugin(io, plugin);
    return EXIT.done;
  }
  if (options.remove) {
    tellFiles(io, await removeKit(io, { program, force }), json);
    return EXIT.done;
  }
  const result = await initProject(io, { program, force });
  if (!json) for (const line of additionLines(result)) io.print(line);
  tellFiles(io, result.files, json);
  if (!json) io.print(nextLine(result, program));
  await warnIfNotOnPath(io);
  return EXIT.done;
}

async function tellPlugin(io: Io, target: string): Promise<void> {
  const { folder, files } = await writePlugin(io, target, readVersion());
  io.print(`written ${target} (${files} files)`);
  io.print(`For one session:   claude --plugin-dir ${folder}`);
  io.print(`For all sessions:  claude plugin marketplace add ${folder}`);
  io.print('                   claude plugin install nightshift@nightshift');
}

function tellFiles(io: Io, files: readonly FileDeed[], json: boolean): void {
  if (json) {
    io.print(JSON.stringify({ files }));
    return;
  }
  for (const line of fileLines(files)) io.print(line);
  for (const line of keptLines(files)) io.warn(line);
}

function additionLines({ added }: InitResult): string[] {
  if (added === undefined) return [];
  return [
    `${added.path} gets these entries; \`nightshift init --agent claude --remove\` removes them:`,
    ...added.additions.map(({ path: keys, value }) => {
      const { matcher } = value as { matcher?: string };
      const hook = `${HOOK_COMMAND} (${matcher}), for the agents of Nightshift only`;
      return `  ${keys.join('.')}: ${typeof value === 'string' ? value : hook}`;
    }),
  ];
}

function nextLine({ folder, isNew }: InitResult, program: string): string {
  const state = isNew ? `${folder} is ready.` : `${folder} is already there.`;
  const also = program === 'opencode' ? ', and so does /nightshift-create in OpenCode' : '';
  return `${state} \`nightshift create NAME --from FILE\` makes a shift${also}.`;
}

async function warnIfNotOnPath(io: Io): Promise<void> {
  if (await isOnPath(io)) return;
  const here = fileURLToPath(new URL('../../..', import.meta.url));
  io.warn("warning: `nightshift` is not on your PATH, so the agents and commands can't run it");
  io.warn(`  \`npm link\` in ${here} puts it there`);
}
