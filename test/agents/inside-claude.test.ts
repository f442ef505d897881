import { afterAll, expect, test } from 'vitest';
import { agentTask, Project, type ShiftHandle, until } from '../harness.ts';
import { converse, inClaude, playStartInClaude } from './inside-claude.ts';
import { InsideModel, type Play } from './inside-model.ts';
import { playItem, playManager } from './inside-play.ts';

const model = await InsideModel.start();
afterAll(() => model.stop());

const NAMES = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];

function newShift(): ShiftHandle {
  return new Project().shift('site', {
    settings: { parallel: true },
    table: `name,draft,check_it\n${NAMES.map((name) => `${name},todo,todo\n`).join('')}`,
    tasks: { draft: agentTask('1. Draft {name}', '- {name} reads well'), check_it: agentTask() },
  });
}

/** Everybody does what the kit's texts say. The agents of one message wait for each other. */
function playAll(): Play {
  let expected = 0;
  let arrived = 0;
  return async (talk) => {
    if (talk.player === 'person') return playStartInClaude(talk);
    if (talk.player === 'manager') {
      const move = playManager(talk);
      arrived = 0;
      expected = 'calls' in move ? move.calls.length : 0;
      return move;
    }
    if (talk.answers.length === 0) {
      arrived++;
      await until(() => arrived >= expected, `${expected} agents at the same time`, 120_000);
    }
    return playItem(talk, {});
  };
}

test('O1 O2 O3 O4 in Claude Code a shift runs from init to done, with no setting touched and nothing left to ask', async () => {
  const shift = newShift();
  const { project } = shift;
  await project.run(['init', '--agent', 'claude']);
  model.play = inClaude(playAll());
  const { said, events } = await converse(project, model, '/nightshift-start site');
  expect(said.at(-1)).toMatch(/^site: 7 items, 7 completed/);
  expect(shift.column('draft')).toEqual(NAMES.map(() => 'done'));
  expect(shift.column('check_it')).toEqual(NAMES.map(() => 'done'));
  expect(events.flatMap(({ permission_denials = [] }) => permission_denials)).toEqual([]);
}, 600_000);
