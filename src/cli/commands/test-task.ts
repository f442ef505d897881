import { randomBytes } from 'node:crypto';
import { AgentSet } from '../../agents/registry.ts';
import { runCheck } from '../../checks/checks.ts';
import { EXIT } from '../../core/errors.ts';
import type { Happening, NightshiftEvent, TranscriptHappening } from '../../core/events.ts';
import type { Outcome } from '../../core/model.ts';
import { makeOrder } from '../../core/order.ts';
import { perform } from '../../engine/item.ts';
import type { Checks } from '../../engine/parts.ts';
import { StopSignals } from '../../engine/stop.ts';
import { openShift } from '../../store/layout.ts';
import { Transcripts } from '../../store/transcripts.ts';
import { plainLines } from '../../views/plain.ts';
import { oneLine } from '../../views/printable.ts';
import { requireRoot } from '../choose-shift.ts';
import { findTask } from '../find-task.ts';
import type { Io } from '../io.ts';
import { openAndCheck } from '../open-shift.ts';
import type { Options } from '../program.ts';
import { parseRow } from '../rows.ts';
import { requireAgents } from '../run-shift.ts';
import { watchFolders } from '../watch-folders.ts';

/** Dev and qa on one row, for a try: an own key, no lessons, nothing in the table, the manifest or the journal. */
export async function run(io: Io, [name = '', taskName = '']: readonly string[], options: Options): Promise<number> {
  const paths = openShift(requireRoot(io), name);
  const { shift, snapshot } = await openAndCheck(paths, { agent: options.agent, model: options.model });
  for (const warning of shift.warnings) io.warn(`warning: ${oneLine(warning)}`);
  const task = findTask(shift, taskName);
  const index = parseRow(options.row, snapshot.count);
  await using set = new AgentSet();
  await requireAgents({ ...shift, tasks: [task] }, set, io);

  // The mark by which a run that starts meanwhile knows that this is not a leftover.
  const key = `test-${randomBytes(14).toString('hex')}`;
  await using transcripts = new Transcripts(paths, io.now);
  let seq = 0;
  const emit = (happening: Happening | TranscriptHappening): void => {
    if (happening.type === 'transcript') {
      transcripts.add(happening);
      return;
    }
    const at = new Date(io.now()).toISOString();
    const event = { ...happening, at, run: key, seq: ++seq, shift: name } as NightshiftEvent;
    if (options.json) io.print(JSON.stringify(event));
    else for (const line of plainLines(event)) io.print(line);
  };
  using stop = new StopSignals(() => io.warn('stopping when this row is finished; Ctrl-C again stops at once'));
  const order = (role: 'dev' | 'qa', checksPassed: boolean) =>
    makeOrder(shift, task, {
      role,
      key,
      checksPassed,
      token: key,
      now: io.now(),
      item: { id: snapshot.id(index), index, metadata: snapshot.metadata(index) },
    });
  const agents = { find: set.find, secrets: shift.secrets, caller: io.env };
  const folders = watchFolders(paths, io, (message) => emit({ type: 'run:warning', message }));
  const checks: Checks = {
    run: runCheck,
    trespass: async () => undefined,
    watch: (request) => folders.watch(request),
  };
  const dev = await perform(order('dev', false), agents, checks, emit, stop.now);
  const last = dev.to === 'qa' ? await perform(order('qa', true), agents, checks, emit, stop.now) : dev;
  if (!options.json) for (const line of verdict(taskName, index, dev, last)) io.print(line);
  if (stop.now.aborted) return EXIT.interrupted;
  if (last.to === undefined) return last.trouble?.remedy === undefined ? EXIT.stopped : EXIT.agentMissing;
  return last.to === 'done' ? EXIT.done : EXIT.failedItems;
}

function verdict(task: string, index: number, dev: Outcome, last: Outcome): string[] {
  const end = last.to === 'done' ? 'would be done' : last.to === 'failed' ? 'would be failed' : 'was not finished';
  return [
    `row ${index + 1} ${task}: ${end} (${dev.attempts === 1 ? '1 attempt' : `${dev.attempts} attempts`})`,
    ...(last.reason === undefined ? [] : [`  ${oneLine(last.reason, 1000)}`]),
    ...(last.trouble?.remedy === undefined ? [] : [`  ${oneLine(last.trouble.remedy, 1000)}`]),
    ...Object.entries(dev.captured).map(([name, value]) => `  captured ${name}=${oneLine(value)}`),
    ...dev.recommendations.map((text) => `  recommends: ${oneLine(text)}`),
    'The table and manager.md are as they were; what the agent did to files is real.',
  ];
}
