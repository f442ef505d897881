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
  if (said.includes('was compacted')) return { text: 'Compacted: true' };
  if (said.includes('Nothing is left to do')) return { text: said.slice(Math.max(0, said.indexOf('Progress:'))) };
  const closed = /Batch of (\w+) closed/.exec(said)?.[1];
  if (closed !== undefined) return run(`lesson ${shift} ${closed}`);
  const listed = [...said.matchAll(/^index \d+: (dev|qa), (\.\S+)$/gm)];
  if (listed.length > 0)
    return { calls: listed.map(([, role, file]) => taskCall(`nightshift-${role}`, readAndDo(file!))) };
  if (said.includes('it is yours') || said.includes('<task_result>')) return run(`batch close ${shift}`);
  if (said.includes('--give-back')) return run(`batch close ${shift} --give-back`);
  const wishes = [...said.matchAll(/^- row \d+: (.*)$/gm)].map(([, text]) => text!);
  if (wishes.length > 0) {
    const steps = [...said.matchAll(/^\d+\. /gm)].length;
    const changes = wishes.map((text) => ({ op: 'add', after: steps, text }));
    const task = /The Steps of (\w+) as/.exec(said)![1];
    return run(`lesson ${shift} ${task} '${JSON.stringify({ changes, summary: 'what was recommended' })}'`);
  }
  if (/No item of|Folded into the Steps/.test(said)) return run(`batch open ${shift}`);
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
  if (said === undefined) return status;
  const stopped = /^Stopped: .*/ms.exec(said)?.[0];
  if (stopped !== undefined) return { text: stopped };
  if (said.includes('<task')) return status;
  // The counts before and after the last manager.
  const counts = answers.filter((_, i) => i % 2 === 0).map((each) => /^.*remaining/m.exec(each.join(''))?.[0]);
  if (answers.length > 1 && (/, 0 remaining/.test(said) || counts.at(-1) === counts.at(-2))) return { text: said };
  return { calls: [taskCall('nightshift-manager', `Run the shift ${shift}.`)] };
}
