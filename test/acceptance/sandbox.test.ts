import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { Project, task } from '../harness.ts';
import { sandboxTest } from '../kit/sandbox-test.ts';

/** The dev reads a key and writes where it must not; only then is its work done as well. */
const STEPS = `1. Try, and work
   \`\`\`sh
   ls -A "$HOME" > {name}.txt
   if cat "$HOME/.ssh/id"; then exit 9; fi
   if echo x >> .nightshift/calm/table.csv; then exit 8; fi
   echo x >> "$HOME/file"
   echo "seen=$(ls /proc | grep -c '^[0-9]')" >> "$NIGHTSHIFT_OUTPUT"
   \`\`\``;
const VALIDATION = `- It works
  \`\`\`sh
  test -f {name}.txt && test ! -e "$HOME/.ssh" && test {seen} -lt 9
  \`\`\``;

sandboxTest('W12 a shift in the sandbox works in its folder and nowhere else, and says so first', async () => {
  const project = new Project();
  const home = new Project();
  mkdirSync(join(home.root, '.ssh'));
  writeFileSync(join(home.root, '.ssh/id'), 'a private key');
  const shift = project.shift('calm', {
    settings: { agent: 'shell', sandbox: true },
    table: 'name,work\na,todo\n',
    tasks: { work: task({ configuration: '- outputs: seen', steps: STEPS, validation: VALIDATION }) },
  });
  const env = { HOME: home.root };
  const ended = await project.run(['start', 'calm'], { env });
  expect(ended.stdout.split('\n')[1]).toBe(
    `sandbox: agents can write ${project.root} and a private /tmp; network: yes; ` +
      'they see the system and the project, not your home folder',
  );
  expect({ code: ended.code, table: shift.tableText }).toEqual({
    code: 0,
    table: expect.stringMatching(/^a,done,\d$/m),
  });
  expect([project.read('a.txt').includes('.ssh'), existsSync(join(home.root, 'file'))]).toEqual([false, false]);

  project.write(
    '.nightshift/calm/manager.md',
    project.read('.nightshift/calm/manager.md').replace('sandbox: true', 'sandbox: false'),
  );
  project.write('.nightshift/calm/table.csv', 'name,work,seen\na,todo,\n');
  const free = await project.run(['start', 'calm'], { env });
  expect(free.stdout).toContain(
    `no sandbox: agents work in ${project.root}; they can write, see and reach all that you can`,
  );
  expect(free.code).toBe(3);
});
