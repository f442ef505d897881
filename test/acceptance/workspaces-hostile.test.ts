import { expect, test } from 'vitest';
import { Project, shellTask, task, until } from '../harness.ts';
import { Repository } from '../kit/real-git.ts';

/** The qa of `a` writes while the dev of `b` works, and while another shift runs. */
const AGENT = `here=$1; cat > /dev/null
if test "$NIGHTSHIFT_ROLE" = dev; then
  echo x > new.txt
  if test "$NIGHTSHIFT_ROW" = 2; then touch $here/working; until test -e $here/judged; do sleep 0.05; done; fi
  echo '{"overall_status": "SUCCESS"}'; exit
fi
if test "$NIGHTSHIFT_ROW" = 1; then
  until test -e $here/working; do sleep 0.05; done
  date +%N > by-qa.txt; touch $here/judged
fi
echo '{"overall_status": "PASS", "criteria": [{"criterion": "it is good", "status": "PASS"}]}'
`;

test('Q2 W11 in workspaces, only the qa that wrote loses its verdict, also while others work and another shift runs', async () => {
  const project = new Project();
  new Repository(project.root, { 'main.txt': 'main\n', '.gitignore': '.nightshift\nstate\n' });
  project.write('.nightshift/agent.sh', AGENT);
  const other = project.shift('other', {
    settings: { agent: 'shell' },
    table: 'name,wait\nx,todo\n',
    tasks: {
      wait: shellTask(
        `touch ${project.path('.nightshift/begun')}; until test -e ${project.path('.nightshift/over')}; do sleep 0.1; done`,
      ),
    },
  });
  const waiting = other.launch();
  await until(() => project.exists('.nightshift/begun'), 'the other shift');
  const shift = project.shift('night', {
    settings: {
      ...{ agent: 'command', command: `sh ${project.path('.nightshift/agent.sh')} ${project.path('.nightshift')}` },
      ...{ attempts: 1, workspace: 'worktree', parallel: true, dispatch: 'stream', 'current-batch-size': 2 },
    },
    table: 'name,work\na,todo\nb,todo\n',
    tasks: { work: task({ steps: '1. Do {name}', validation: '- it is good' }) },
  });
  const { events } = await shift.start();
  project.write('.nightshift/over', '');
  expect((await waiting.ended).code).toBe(0);
  expect(shift.column('work')).toEqual(['failed', 'done']);
  const voided = events.filter(({ type }) => type === 'verdict:voided');
  expect(voided.length).toBeGreaterThan(0);
  for (const event of voided)
    expect(event).toMatchObject({ index: 0, reason: 'it changed by-qa.txt', changed: ['by-qa.txt'] });
  expect(JSON.stringify(events)).not.toContain('not noticed');
});
