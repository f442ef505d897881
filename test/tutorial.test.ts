import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { AGENT, Project, ShiftHandle } from './harness.ts';

/** Does what a page says: saves its files and runs its commands, each of which has to print what the page shows. */
class Reader {
  readonly project = new Project();
  readonly #page: string;

  constructor(page: string) {
    this.#page = readFileSync(page, 'utf8');
  }

  /** Files that the text names just before their block: "The items, `pages.csv`:". */
  saveFiles(): string[] {
    const blocks = this.#page.matchAll(/`(\w+\.(?:csv|md))`[^`]*?\n\n(`{3,})(?:csv|markdown)\n(.*?)^\2$/gms);
    return [...blocks].map(([, file, , text]) => {
      this.project.write(file!, text!);
      return file!;
    });
  }

  /** The lines of the `sh` block that begins like this. */
  script(beginning: string): string[] {
    const blocks = this.#page.matchAll(/^```sh\n(.*?)\n```$/gms);
    return [...blocks]
      .map(([, text]) => text!)
      .find((text) => text.startsWith(beginning))!
      .split('\n');
  }

  /** The commands of all `console` blocks, and what they print. */
  commands(): { command: string; output: string }[] {
    const blocks = this.#page.matchAll(/^```console\n(.*?)^```$/gms);
    return [...blocks].flatMap(([, text]) =>
      text!
        .split(/^\$ /m)
        .slice(1)
        .map((part) => ({ command: part.slice(0, part.indexOf('\n')), output: part.slice(part.indexOf('\n') + 1) })),
    );
  }

  async run(command: string): Promise<string> {
    const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' });
    const [program = '', ...args] = words.split('\0').slice(0, -1);
    if (program !== 'nightshift') return execFileSync(program, args, { cwd: this.project.root, encoding: 'utf8' });
    const { stdout, stderr } = await this.project.run(args);
    return `${stdout}${stderr}`.replaceAll(this.project.root, '/srv/app');
  }
}

/** Times differ from run to run. */
function withoutTimes(text: string): string {
  return text.replace(/\b\d+(\.\d+)?m?s\b/g, 'TIME').replace(/\b\d\d:\d\d\b/g, 'CLOCK');
}

/** `[...]` on a line of its own stands for any lines. */
function patternOf(output: string): RegExp {
  const lines = withoutTimes(output).split(/^\[\.\.\.\]\n/m);
  return new RegExp(`^${lines.map((part) => part.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')).join('(?:.*\\n)*?')}$`);
}

test('docs/tutorial.md: its files and commands work, and print what the page shows', async () => {
  const reader = new Reader('docs/tutorial.md');
  expect(reader.saveFiles()).toEqual(['pages.csv', 'write_page.md', 'topics.csv', 'write_text.md']);
  const commands = reader.commands();
  expect(commands.length).toBeGreaterThan(8);
  for (const { command, output } of commands) {
    const printed = withoutTimes(await reader.run(command));
    expect(printed, command).toMatch(patternOf(output));
  }
});

test('README.md: the line and the shift that it shows run as it says, with a scripted agent in place of a model', async () => {
  const reader = new Reader('README.md');
  const { project } = reader;
  const line = reader.script("nightshift each --glob '**/*.md'").join('\n');
  project.write('notes/owls.md', 'Owls fly without a sound.\n');
  expect(await reader.run(line)).toContain('All done.');
  expect(new ShiftHandle(project, 'md').rows()).toEqual([{ path: 'notes/owls.md', do: 'done', words: '5' }]);

  expect(reader.saveFiles()).toEqual(['topics.csv', 'write_text.md']);
  const slug = `$(printf '%s' "$NIGHTSHIFT_ITEM" | sed 's/.*"slug":"\\([^"]*\\)".*/\\1/')`;
  project.behave({ dev: { sh: `mkdir -p texts && echo '# A text' > "texts/${slug}.md"` } });
  const [create = '', addTask = '', start = ''] = reader.script('nightshift create');
  await reader.run(create.replace('--agent claude', '--agent command'));
  const manifest = '.nightshift/texts/manager.md';
  project.write(manifest, project.read(manifest).replace('- agent: command', `- agent: command\n- command: ${AGENT}`));
  await reader.run(addTask);
  expect(await reader.run(start)).toContain('texts: 3 items, 3 completed, 0 failed, 0 remaining');
  expect(project.read('texts/tides.md')).toBe('# A text\n');
});
