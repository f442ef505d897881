import { until } from '../harness.ts';
import { bash, type Move, type Talk, taskCall } from './inside-model.ts';

/** What becomes of the items of the task `draft`, by the cell `name` of their rows. All else passes. */
export interface Fates {
  readonly devFails?: readonly string[];
  readonly qaFails?: readonly string[];
  /** What its dev recommends. */
  readonly recommends?: Readonly<Record<string, string>>;
}

/** The same for the agent fixture, so that `nightshift start` meets the same agents. Its manager adds one lesson. */
export function behaviourOf(fates: Fates, lesson = ''): Record<string, object> {
  const { devFails = [], qaFails = [], recommends = {} } = fates;
  const dev = (name: string) => ({
    ...(devFails.includes(name) ? { overall_status: 'FAILED', error: reasonFor(name) } : {}),
    ...(recommends[name] === undefined ? {} : { recommendations: [recommends[name]] }),
  });
  const outputs = (name: string) => ({ url: valueFor('url', name) });
  const fail = { criterion: 'It reads well', status: 'FAIL' };
  const qa = (name: string) => ({ overall_status: 'FAIL', criteria: [{ ...fail, reason: reasonFor(name) }] });
  return {
    ...Object.fromEntries(
      ['a', 'b', 'c', 'd', 'e'].map((name) => [`dev:${name}`, { report: dev(name), outputs: outputs(name) }]),
    ),
    ...Object.fromEntries(qaFails.map((name) => [`qa:${name}`, { report: qa(name) }])),
    manager: { report: { lessons: [{ text: lesson, from: [1] }], summary: 'what was recommended' } },
  };
}

const reasonFor = (name: string) => `nothing works for ${name}`;
const valueFor = (output: string, name: string) => `${output}-of-${name}`;

/** Everybody does what the kit's texts say. The agents of one message wait for each other: one at a time, they would wait forever. */
export function playAll(fates: Fates, playPerson: (talk: Talk) => Move = playStart): (talk: Talk) => Promise<Move> {
  let expected = 0;
  let arrived = 0;
  return async (talk) => {
    if (talk.player === 'person') return playPerson(talk);
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
    return playItem(talk, fates);
  };
}

/** The manager as its text tells it to work. It knows only what its tools have answered. */
export function playManager({ prompt, answers }: Talk): Move {
  const shift = /Run the shift (\S+?)\.?$/m.exec(prompt)?.[1] ?? '';
  const run = (words: string): Move => ({ calls: [bash(`nightshift ${words}`)] });
  const said = answers.at(-1)?.join('\n');
  if (said === undefined) return run(`batch open ${shift}`);
  if (said.includes('was compacted')) return { text: 'Compacted: true' };
  if (said.includes('Nothing is left to do')) return { text: said.slice(Math.max(0, said.indexOf('Progress:'))) };
  const closed = /Batch of (\w+) closed/.exec(said)?.[1];
  if (closed !== undefined) return run(`lesson ${shift} ${closed}`);
  const listed = [...said.matchAll(/^row \d+: (dev|qa), (\.\S+)$/gm)];
  if (listed.length > 0)
    return { calls: listed.map(([, role, file]) => taskCall(`nightshift-${role}`, readAndDo(file!))) };
  if (said.includes('it is yours') || said.includes('<task_result>')) return run(`batch close ${shift}`);
  if (said.includes('--give-back')) return run(`batch close ${shift} --give-back`);
  // What several rows recommend is folded in once.
  const wishes = [...said.matchAll(/^- recommendation (\d+), row \d+: (.*)$/gm)];
  if (wishes.length > 0) {
    const texts = [...new Set(wishes.map(([, , text]) => text!))];
    const numbersOf = (text: string) => wishes.flatMap(([, number, each]) => (each === text ? [Number(number)] : []));
    const lessons = texts.map((text) => ({ text, from: numbersOf(text), same_as: null, after: null }));
    const task = /The Steps of (\w+), without lessons:/.exec(said)![1];
    return run(`lesson ${shift} ${task} '${JSON.stringify({ lessons, summary: 'what was recommended' })}'`);
  }
  if (/There are no new|^L\d+ \w+:|Nothing new was learned|The Steps stay/m.test(said))
    return run(`batch open ${shift}`);
  return { text: `Stopped: ${said}` };
}

function readAndDo(file: string): string {
  return `Read ${file} and do what it says.`;
}

/** A dev or a qa: reads its file, runs the command that stands there for what becomes of its item. */
export function playItem({ player, prompt, answers }: Talk, fates: Fates): Move {
  const filePath = /Read (\S+) and do/.exec(prompt)?.[1] ?? '';
  if (answers.length === 0) return { calls: [{ tool: 'read', input: { filePath } }] };
  if (answers.length > 1 && !answers.at(-1)!.join('').includes('attempts left')) {
    return { text: answers.at(-1)!.join('').trim() };
  }
  const text = answers[0]!.join('');
  const name = nameIn(text);
  const { devFails = [], qaFails = [], recommends = {} } = text.includes(' edit draft ') ? fates : {};
  const isFailed = (player === 'dev' ? devFails : qaFails).includes(name);
  const status = isFailed ? 'failed' : player === 'dev' ? 'qa' : 'done';
  const command = new RegExp(`nightshift table .* ${status} --token \\w+`).exec(text)?.[0] ?? 'false';
  if (isFailed) return { calls: [bash(`${command} --reason '${reasonFor(name)}'`)] };
  const outputs = [...text.matchAll(/--captured (\w+)='VALUE'/g)].map(([, output]) => output!);
  const captured = outputs.map((output) => ` --captured ${output}='${valueFor(output, name)}'`).join('');
  const wish = player === 'dev' ? recommends[name] : undefined;
  const more = captured + (wish === undefined ? '' : ` --recommend '${wish}'`);
  return { calls: [bash(command + more)] };
}

export function nameIn(prompt: string): string {
  return /"metadata": [^}]*"name": "(\w+)"/.exec(prompt)?.[1] ?? '';
}

/** The conversation that /nightshift-start is typed into. */
export function playStart({ prompt, answers }: Talk): Move {
  const shift = /^The shift: (\S+)/m.exec(prompt)?.[1] ?? '';
  const status: Move = { calls: [bash(`nightshift status ${shift}`)] };
  const said = answers.at(-1)?.join('\n');
  if (said === undefined) return status;
  const stopped = /^Stopped: .*/ms.exec(said)?.[0];
  if (stopped !== undefined) return { text: stopped };
  if (said.includes('<task')) return status;
  // The counts before and after the last manager.
  const counts = answers.filter((_, i) => i % 2 === 0).map((each) => /^.*remaining/m.exec(each.join(''))?.[0]);
  if (answers.length > 1 && (/, 0 remaining/.test(said) || counts.at(-1) === counts.at(-2))) return { text: said };
  return { calls: [taskCall('nightshift-manager', `Run the shift ${shift}.`)] };
}
