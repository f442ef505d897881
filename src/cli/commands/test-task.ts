import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentSet } from '../../agents/registry.ts';
import { runCheck } from '../../checks/checks.ts';
import { EXIT } from '../../core/errors.ts';
import type { Happening, NightshiftEvent, TranscriptHappening } from '../../core/events.ts';
import type { Outcome } from '../../core/model.ts';
import { makeOrder } from '../../core/order.ts';
import { perform } from '../../engine/item.ts';
import type { Checks } from '../../engine/parts.ts';
import { pause } from '../../engine/pause.ts';
import { StopSignals } from '../../engine/stop.ts';
import { workingFolder } from '../../engine/work.ts';
import { openShift } from '../../store/layout.ts';
import { Transcripts } from '../../store/transcripts.ts';
import { plainLines } from '../../views/plain.ts';
import { oneLine } from '../../views/printable.ts';
import { usageText } from '../../views/summary.ts';
import { requireRoot } from '../choose-shift.ts';
import { findTask } from '../find-task.ts';
import type { Io } from '../io.ts';
import { readLimitFlags } from '../limit-flags.ts';
import { openAndCheck } from '../open-shift.ts';
import { processTime } from '../process-time.ts';
import type { Options } from '../program.ts';
import { protectFiles } from '../protect-files.ts';
import { parseRow } from '../rows.ts';
import { requireAgents } from '../run-shift.ts';
import { openSpending } from '../spending.ts';
import { watchFolders } from '../watch-folders.ts';

/**
 * Dev and qa on one row, for a try: an own key, no lessons, nothing in the table or the manifest. What it costs is the
 * shift's, and stands in the journal.
 */
export async function run(io: Io, [name = '', taskName = '']: readonly string[], options: Options): Promise<number> {
  const { agent, model } = options;
  const limits = readLimitFlags(options);
  const paths = openShift(requireRoot(io), name);
  const { shift, snapshot } = await openAndCheck(paths, { agent, model, limits });
  for (const warning of shift.warnings) io.warn(`warning: ${oneLine(warning)}`);
  const task = findTask(shift, taskName);
  const index = parseRow(options.row, snapshot.count);
  await using set = new AgentSet();
  await requireAgents({ ...shift, tasks: [task] }, set, io);
  await using spending = await openSpending(io, paths, shift.settings.limits);
  const refused = spending.reached;
  if (refused) {
    io.warn(`nothing was tried: ${refused.text}; raise it in manager.md, or add --${refused.key} ${refused.enough}`);
    return EXIT.stopped;
  }
  spending.begin();

  // The mark by which a run that starts meanwhile knows that this is not a leftover.
  const key = `test-${randomBytes(14).toString('hex')}`;
  await using transcripts = new Transcripts(paths, io.now);
  let seq = 0;
  const emit = (happening: Happening | TranscriptHappening): void => {
    if (happening.type === 'transcript') {
      transcripts.add(happening);
      return;
    }
    if (happening.type === 'usage:spent') spending.add(happening);
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
      item: { id: snapshot.id(index), index, metadata: snapshot.metadata(index) },
    });
  const agents = { find: set.find, secrets: shift.secrets, caller: io.env };
  const folders = watchFolders(paths, io, (message) => emit({ type: 'run:warning', message }));
  const protection = protectFiles(paths, io, emit, join(tmpdir(), `nightshift-${key}`));
  await using _held = { [Symbol.asyncDispose]: () => protection.end() };
  await protection.hold({ folder: workingFolder(order('dev', false), agents), globs: task.settings.protect });
  using _entered = protection.enter({ token: key, key, task: taskName, index });
  const checks: Checks = {
    run: runCheck,
    trespass: (calls) => protection.trespassOf(key, calls),
    observe: (run) => protection.observe(run),
    watch: (request) => folders.watch(request),
    pause: (milliseconds, signal) => pause(milliseconds, [signal, stop.drain]),
    spentUp: () => spending.reached?.text,
    time: processTime(),
    random: Math.random,
  };
  const dev = await perform(order('dev', false), agents, checks, emit, stop.now);
  const last = dev.to === 'qa' ? await perform(order('qa', true), agents, checks, emit, stop.now) : dev;
  const cost = usageText(spending.usage);
  const spent = cost === undefined ? [] : [`this try: ${cost}`];
  if (!options.json) for (const line of [...verdict(taskName, index, dev, last), ...spent]) io.print(line);
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
