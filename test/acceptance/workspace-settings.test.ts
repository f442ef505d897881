import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { Project, type ShiftHandle, task } from '../harness.ts';

/** Notes where it works and what it was told, and reports values that are not its own to report. */
const AGENT = `prompt=$(cat)
printf '%s\\n%s\\n' "$(pwd -P)" "$prompt" > "$NIGHTSHIFT_SHIFT_DIR/$NIGHTSHIFT_TASK-$NIGHTSHIFT_ROW-$NIGHTSHIFT_ROLE.txt"
if test "$NIGHTSHIFT_ROLE" = qa; then
  echo '{"overall_status": "PASS", "criteria": [{"criterion": "it is good", "status": "PASS"}]}'; exit
fi
echo "$NIGHTSHIFT_TASK" >> a.txt
echo note=fine >> "$NIGHTSHIFT_OUTPUT"
echo branch=evil >> "$NIGHTSHIFT_OUTPUT"
echo '{"overall_status": "SUCCESS"}'
`;

const SETTINGS = `- workspace: worktree
- branch: fix/{name}
- deliver: branch
- message:
  ~~~text
  Fix {name}

  It is {note}.
  ~~~
`;

function newShift(project: Project): ShiftHandle {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: project.root });
  git('init', '-q');
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-q', '--allow-empty', '-m', 'first');
  git('config', 'user.name', 'a');
  git('config', 'user.email', 'a@b');
  project.write('.nightshift/agent.sh', AGENT);
  const parts = { steps: '1. Do {name}', validation: '- it is good' };
  const shift = project.shift('night', {
    settings: { agent: 'command', command: `sh ${project.path('.nightshift/agent.sh')}`, attempts: 1 },
    table: 'name,fix,review\na,todo,todo\nb,todo,todo\n',
    tasks: {
      fix: task({ ...parts, configuration: '- allow-paths: {name}.txt' }),
      review: task({ ...parts, configuration: '- outputs: note, branch, commit' }),
    },
  });
  shift.manager = shift.manager.replace('\n\n## Task Order', `\n${SETTINGS}\n## Task Order`);
  return shift;
}

test('W1 W6 W8 prompts name the workspace, limits are those of the row, and the delivery fills its own outputs', async () => {
  const project = new Project();
  const shift = newShift(project);
  const preview = (await project.run(['preview', 'night', 'fix', '--row', '1'])).stdout;
  expect(preview).toMatch(/^--- workspace: worktree\nbranch: fix\/a\ndeliver: branch\nmessage: Fix a\n/);
  expect(preview).toContain('"working_folder": "(the workspace of this row)"');
  expect((await shift.start()).code).toBe(3);
  const [a, b] = shift.rows();
  const commit = execFileSync('git', ['rev-parse', 'fix/a'], { cwd: project.root, encoding: 'utf8' }).trim();
  expect(a).toEqual({ name: 'a', fix: 'done', review: 'done', note: 'fine', branch: 'fix/a', commit });
  const message = execFileSync('git', ['log', '-1', '--format=%B', 'fix/a'], { cwd: project.root, encoding: 'utf8' });
  expect(message).toMatch(/^Fix a\n\nIt is fine\.\n\nNightshift-Key: \w+\n/);
  for (const name of ['fix-1-dev', 'fix-1-qa', 'review-1-dev']) {
    const [folder, ...prompt] = project.read(`${shift.folder}/${name}.txt`).split('\n');
    expect(folder).not.toContain(project.root);
    expect(prompt.join('\n')).toContain(`"working_folder": "${folder}"`);
  }
  const told = project.read(`${shift.folder}/review-1-dev.txt`);
  expect(told).toContain('You work in your own copy of the repository');
  expect(told).toMatch(/"branch": "fix\/a",[\s\S]*"outputs": \[\n\s+"note"\n\s+\]/);

  expect([b!.fix, b!.branch]).toEqual(['failed', '']);
  const { reason } = shift.journal().find(({ type, index }) => type === 'dev:finished' && index === 1);
  expect(reason).toContain('it changed a.txt, and `allow-paths` allows only b.txt');

  // Row 2 keeps its workspace, whatever the settings say now.
  shift.manager = shift.manager.replace('workspace: worktree', `workspace: clone\n- repo: ${project.root}`);
  const { stderr } = await project.run(['start', 'night', '--dry-run']);
  expect(stderr).toContain('`workspace` is `clone` now, but row 2 has a workspace (`worktree`), which is used until');
  await project.run(['table', 'reset', 'night', '--row', '2']);
  expect((await shift.start()).code).toBe(3);
  const warned = shift.journal().filter(({ type }) => type === 'run:warning');
  expect(warned.map((event) => event.message)).toContainEqual(expect.stringContaining('row 2 has a workspace'));
  const opened = shift.journal().filter(({ type, index }) => type === 'workspace:opened' && index === 1);
  expect(new Set(opened.map(({ folder }) => folder)).size).toBe(1);
});
