import { bash, type Move, type Talk, taskCall } from './inside-model.ts';

/** What becomes of an item, by the cell `name` of its row. */
export interface Fates {
  readonly devFails?: readonly string[];
  readonly qaFails?: readonly string[];
  /** What its dev recommends. */
  readonly recommends?: Readonly<Record<string, string>>;
}

/** The manager as its text tells it to work. It knows only what its tools have answered. */
export function playManager({ prompt, answers }: Talk): Move {
  const shift = /Run the shift (\S+?)\.?$/m.exec(prompt)?.[1] ?? '';
  const run = (words: string): Move => ({ calls: [bash(`nightshift ${words}`)] });
  const said = answers.at(-1)?.join('\n');
  if (said === undefined) return run(`batch open ${shift}`);
  if (said.includes('a batch of')) return run(`batch open ${shift} --take-over`);
  if (said.includes('Nothing is left to do')) return { text: said.slice(said.indexOf('Progress:')) };
  const closed = /Batch of (\w+) closed/.exec(said)?.[1];
  if (closed !== undefined) return run(`lesson ${shift} ${closed}`);
  const opened = [...said.matchAll(/^index \d+: (dev|qa), (\.\S+)$/gm)];
  if (opened.length > 0)
    return { calls: opened.map(([, role, file]) => taskCall(`nightshift-${role}`, readAndDo(file!))) };
  const wishes = [...said.matchAll(/^- row \d+: (.*)$/gm)].map(([, text]) => text!);
  if (wishes.length > 0) {
    const steps = [...said.matchAll(/^\d+\. /gm)].length;
    const changes = wishes.map((text) => ({ op: 'add', after: steps, text }));
    const task = /The Steps of (\w+) as/.exec(said)![1];
    return run(`lesson ${shift} ${task} '${JSON.stringify({ changes, summary: 'what was recommended' })}'`);
  }
  if (/No item of|Folded into the Steps/.test(said)) return run(`batch open ${shift}`);
  if (!/<task |not ended:/.test(said)) return { text: `I do not know what to do with this: ${said}` };
  return judgeNext(answers) ?? run(`batch close ${shift}`);
}

/** The close says who has not ended; the qa of each is started, one after the other. */
function judgeNext(answers: Talk['answers']): Move | undefined {
  const at = answers.findLastIndex((said) => said.join('').includes('not ended:'));
  const opened = answers.findLastIndex((said) => said.join('').includes('Each has a file with its prompt'));
  if (at < opened) return undefined;
  const waiting = [...answers[at]!.join('').matchAll(/index \d+ is qa \(qa, ([^)]+)\)/g)].map(([, file]) => file!);
  const next = waiting[answers.length - 1 - at];
  return next === undefined ? undefined : { calls: [taskCall('nightshift-qa', readAndDo(next))] };
}

function readAndDo(file: string): string {
  return `Read ${file} and do what it says.`;
}

/** A dev or a qa: reads its file, runs the command that stands there for what becomes of its item. */
export function playItem({ player, prompt, answers }: Talk, fates: Fates): Move {
  const filePath = /Read (\S+) and do/.exec(prompt)?.[1] ?? '';
  if (answers.length === 0) return { calls: [{ tool: 'read', input: { filePath } }] };
  if (answers.length > 1) return { text: '{"overall_status": "as written"}' };
  const text = answers[0]!.join('');
  const name = nameIn(text);
  const fails = player === 'dev' ? fates.devFails : fates.qaFails;
  const isFailed = fails?.includes(name) ?? false;
  const status = isFailed ? 'failed' : player === 'dev' ? 'qa' : 'done';
  const command = new RegExp(`nightshift table .* ${status} --token \\w+`).exec(text)?.[0] ?? 'false';
  const wish = player === 'dev' && !isFailed ? fates.recommends?.[name] : undefined;
  const more = isFailed ? ` --reason 'nothing works for ${name}'` : wish === undefined ? '' : ` --recommend '${wish}'`;
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
  if (said === undefined || said.includes('Nothing is left to do')) return status;
  if (answers.length > 1 && said.startsWith(`${shift}:`)) return { text: said };
  return { calls: [taskCall('nightshift-manager', `Run the shift ${shift}.`)] };
}
