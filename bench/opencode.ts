import { createOpencodeClient } from '@opencode-ai/sdk/v2/client';
import { cell, type Model, type Step, SUCCESS } from '../test/agents/model.ts';
import { atMost, type Figure, type Section } from './figure.ts';
import { ms, NIGHTSHIFT, node, run, takeTurns, timed } from './measure.ts';
import { Home, shiftOf, withModel, writes } from './opencode-home.ts';
import { SHIFT } from './project.ts';

const ITEMS = 20;
const ANSWER_MS = 1000;
/**
 * As an item may well take; and the fewest that do anything: there what it costs OpenCode to begin and end a session weighs
 * most, and a bare script is what to keep up with.
 */
const MANY_ANSWERS = 10;
const FEW_ANSWERS = 2;
const ROUNDS = 3;

/** A shift with OpenCode and a scripted model: how much time is lost between the model's answers, and by whom. */
export async function opencode(): Promise<Section> {
  return { title: 'OpenCode', figures: await withModel(speed) };
}

async function speed(model: Model): Promise<Figure[]> {
  using home = new Home(model);
  // The first one makes its database.
  await home.serverStart();
  const { start, ...few } = await takeTurns(ROUNDS, {
    start: () => home.serverStart(),
    ours: () => byNightshift(FEW_ANSWERS, home),
    bare: () => byHand(FEW_ANSWERS, home),
  });
  const many = await takeTurns(ROUNDS, {
    ours: () => byNightshift(MANY_ANSWERS, home),
    bare: () => byHand(MANY_ANSWERS, home),
  });
  const loop = await byRuns(FEW_ANSWERS, home);
  const figures = (answers: number, { ours, bare }: typeof few): Figure[] => {
    const modelMs = (ITEMS * answers * ANSWER_MS) / 4;
    const what = `${ITEMS} items with ${answers} answers of 1 s, 4 at once`;
    const [oursMs, bareMs] = [ours - start, bare - start];
    return [
      {
        what: `${what}, less the server's start (${ms(start)})`,
        ours: ms(oursMs),
        other: `the model alone: ${ms(modelMs)}`,
        ratio: oursMs / modelMs,
        target: atMost(1.3),
      },
      {
        what,
        ours: ms(oursMs),
        other: `a bare script with OpenCode's SDK: ${ms(bareMs)}`,
        ratio: oursMs / bareMs,
        target: atMost(1.1),
      },
    ];
  };
  return [
    ...figures(MANY_ANSWERS, many),
    ...figures(FEW_ANSWERS, few),
    {
      what: `${ITEMS} items with ${FEW_ANSWERS} answers, start included`,
      ours: ms(few.ours),
      other: `\`opencode run\` for each, 4 at once: ${ms(loop.taken)}, ${loop.failed} failed`,
      ratio: few.ours / loop.taken,
    },
  ];
}

/** A dev that writes a file with each answer, and reports with the last. */
function stepsOf(answers: number): (name: string) => Step[] {
  return (name) => [
    ...Array.from({ length: answers - 1 }, () => ({ ...writes(name), delay: ANSWER_MS })),
    { report: SUCCESS, delay: ANSWER_MS },
  ];
}

function promptsOf(answers: number): string[] {
  const names = Array.from({ length: ITEMS }, (_, i) => `item-${i}`);
  return names.map(
    (name) => `You are the dev of Nightshift. "script": "${cell({ name, dev: stepsOf(answers)(name) })}"`,
  );
}

async function byNightshift(answers: number, home: Home): Promise<number> {
  using project = shiftOf(ITEMS, stepsOf(answers));
  return (await node([NIGHTSHIFT, 'start', SHIFT], { cwd: project.root, env: home.environment })).ms;
}

/** What somebody writes in an afternoon: the same server, four sessions at once; no table, no checks, no report that is read. */
async function byHand(answers: number, home: Home): Promise<number> {
  using project = shiftOf(ITEMS, stepsOf(answers));
  const directory = project.root;
  const started = performance.now();
  using server = await home.serve(directory);
  const client = createOpencodeClient({ baseUrl: server.url });
  await fourAtOnce(promptsOf(answers), async (text) => {
    const { data: session } = await client.session.create({ directory, title: 'x' });
    const model = { providerID: 'loopback', modelID: 'scripted' };
    const { error } = await client.session.prompt({
      ...{ sessionID: session!.id, directory, model },
      parts: [{ type: 'text', text }],
    });
    if (error) throw new Error(JSON.stringify(error));
  });
  return performance.now() - started;
}

/**
 * OpenCode believes PWD more than the folder that it was started in. Several that start at once are in each other's way: one
 * that fails is counted.
 */
async function byRuns(answers: number, { environment }: Home): Promise<{ taken: number; failed: number }> {
  using project = shiftOf(ITEMS, stepsOf(answers));
  const cwd = project.root;
  const args = ['run', '--format', 'json', '--model', 'loopback/scripted', '--title', 'x'];
  let failed = 0;
  const runOnce = (input: string) =>
    run('opencode', args, { input, cwd, env: { ...environment, PWD: cwd } }).catch(() => void failed++);
  return { taken: await timed(() => fourAtOnce(promptsOf(answers), runOnce)), failed };
}

async function fourAtOnce(inputs: readonly string[], work: (input: string) => Promise<unknown>): Promise<void> {
  const queue = [...inputs];
  const worker = async () => {
    for (let input = queue.shift(); input !== undefined; input = queue.shift()) await work(input);
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
}
