import type { AgentRequest, CustomAgent } from '../../src/index.ts';
import { groupByMeaning } from './manager.ts';
import { attempt, type World } from './world.ts';

/** An agent that plays the world: it knows its row, its attempt and what the prompt says, and remembers nothing. */
export function worldAgent(world: World): CustomAgent {
  const ask = { dev: devReport, qa: qaReport, manager: managerReport };
  return {
    name: 'world',
    hasModel: false,
    ask: async (request) => ({ report: ask[request.role](request, world) }),
  };
}

/** The lessons are read from the Steps of the prompt, where the list of lessons says that they are. */
function devReport({ prompt, work }: AgentRequest, world: World): object {
  const numbered = lines(prompt, 'task')
    .map((line) => /^(\d+)\. (.*)$/.exec(line))
    .filter((match) => match !== null);
  const steps = new Map(numbered.map(([, number, text]) => [number!, text!]));
  const given = lines(prompt, 'lessons').map((line) => /^(L\d+): step (\d+)$/.exec(line)!);
  const idOf = new Map(given.map(([, id, step]) => [steps.get(step!)!, id!]));
  const { success, votes, recommendations } = attempt(world, work!.row, work!.attempt, [...idOf.keys()]);
  return {
    overall_status: success ? 'SUCCESS' : 'FAILED (validation)',
    lessons: votes.map(({ lesson, effect, reason }) => ({ id: idOf.get(lesson), effect, reason })),
    recommendations,
    error: success ? null : 'the card is wrong',
  };
}

function qaReport(): object {
  return { overall_status: 'PASS', criteria: [{ criterion: '1', status: 'PASS', reason: 'the card is right' }] };
}

function managerReport({ prompt }: AgentRequest): object {
  const read = (part: string) => lines(prompt, part).map((line) => JSON.parse(line));
  return groupByMeaning(read('recommendations'), read('lessons'));
}

/** The lines between the tags of a part; none if the prompt does not have it. */
function lines(prompt: string, part: string): string[] {
  const text = new RegExp(`^<${part}-(\\w+)>\n(.*?)\n</${part}-\\1>$`, 'ms').exec(prompt)?.[2];
  return text === undefined ? [] : text.split('\n').filter((line) => line !== '');
}
