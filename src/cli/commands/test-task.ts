import { randomBytes } from 'node:crypto';
import { AgentSet } from '../../agents/registry.ts';
import { findTask } from '../../app/find-task.ts';
import { openAndCheck } from '../../app/open-shift.ts';
import { parseRow } from '../../app/rows.ts';
import { checkWith, settleBeforeStart } from '../../app/run/killed-run.ts';
import { keysOfWriters } from '../../app/run/open-files.ts';
import { requireAgents } from '../../app/run/plan-run.ts';
import { processClock } from '../../app/run/process-time.ts';
import { protectFiles } from '../../app/run/protect-files.ts';
import { watchFolders } from '../../app/run/watch-folders.ts';
import { openSpending } from '../../app/spending.ts';
import { runCheck } from '../../checks/checks.ts';
import { EXIT } from '../../core/model/errors.ts';
import type { Happening, NightshiftEvent, TranscriptHappening } from '../../core/model/events.ts';
import type { Outcome } from '../../core/model/model.ts';
import { makeOrder } from '../../core/model/order.ts';
import { workingFolder } from '../../engine/worker/work.ts';
import { perform } from '../../engine/worker/worker.ts';
import type { Checks } from '../../engine/worker/worker-ports.ts';
import { refuseOpenBatch } from '../../store/folder/batch-file.ts';
import { InForce } from '../../store/folder/documents/in-force.ts';
import type { InForceOptions } from '../../store/folder/documents/in-force-options.ts';
import { InForceRecord } from '../../store/folder/documents/in-force-record.ts';
import type { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { Transcripts } from '../../store/folder/journal/transcripts.ts';
import { openShift, type ShiftPaths } from '../../store/folder/layout.ts';
import { takeRunLock } from '../../store/folder/run-lock.ts';
import { plainLines } from '../../views/plain.ts';
import { oneLine } from '../../views/printable.ts';
import { usageText } from '../../views/summary.ts';
import { Watch } from '../../watch/watch.ts';
import { requireRoot } from '../choose-shift.ts';
import type { Io } from '../io.ts';
import { readLimitFlags } from '../limit-flags.ts';
import type { Options } from '../program.ts';
import { StopSignals } from '../stop-signals.ts';

/**
 * Dev and qa on one row, for a try: an own key, no lessons, nothing in the table or the manifest. What it costs is the
 * shift's, and stands in the journal.
 */
export async function run(io: Io, [name = '', taskName = '']: readonly string[], options: Options): Promise<number> {
  const { agent, model } = options;
  const limits = readLimitFlags(options);
  const paths = openShift(requireRoot(io), name);
  // The mark by which its processes are known.
  const key = `test-${randomBytes(14).toString('hex')}`;
  const holder = { pid: process.pid, since: new Date(io.now()).toISOString(), run: key };
  const print = (event: NightshiftEvent) => {
    if (options.json) io.print(JSON.stringify(event));
    else for (const line of plainLines(event)) io.print(line);
  };
  await settleBeforeStart(paths, holder, io, print);
  await using set = new AgentSet();
  // Bad input is told before anything is written.
  const first = await openAndCheck(paths, { agent, model, limits });
  await requireAgents({ ...first.shift, tasks: [findTask(first.shift, taskName)] }, set, io);
  parseRow(options.row, first.snapshot.count);
  refuseOpenBatch(paths, io.now());
  await first.files.prepare();
  using _running = await takeRunLock(paths, holder);
  let seq = 0;
  const emit = (happening: Happening | TranscriptHappening): void => {
    if (happening.type === 'transcript') {
      transcripts.add(happening);
      return;
    }
    if (happening.type === 'usage:spent') spending.add(happening);
    const at = new Date(io.now()).toISOString();
    print({ ...happening, at, run: key, seq: ++seq, shift: name } as NightshiftEvent);
  };
  const { shift, snapshot, files, store } = await openAndCheck(paths, { agent, model, limits, emit });
  for (const warning of shift.warnings) io.warn(`warning: ${oneLine(warning)}`);
  const task = findTask(shift, taskName);
  const index = parseRow(options.row, snapshot.count);
  await using spending = await openSpending(io, paths, shift.settings.limits);
  const refused = spending.reached;
  if (refused) {
    io.warn(`nothing was tried: ${refused.text}; raise it in manager.md, or add --${refused.key} ${refused.enough}`);
    return EXIT.stopped;
  }
  spending.begin();

  await using transcripts = new Transcripts(paths, io.now);
  using stop = new StopSignals();
  stop.drain.addEventListener('abort', () => io.warn('stopping when this row is finished; Ctrl-C again stops at once'));
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
  const protection = protectFiles(paths, io, emit);
  await using _ended = { [Symbol.asyncDispose]: () => protection.end() };
  await protection.begin([{ folder: workingFolder(order('dev', false), agents), globs: task.settings.protect }]);
  const inForce = await holdDocuments(paths, files, { emit, now: io.now });
  await using _closed = {
    async [Symbol.asyncDispose]() {
      await set[Symbol.asyncDispose]();
      await inForce.close();
    },
  };
  await using _atWork = inForce.protect({ task: taskName, index });
  const clock = processClock(io.now);
  const failure = new AbortController();
  await using watch = new Watch({
    changes: () => store.changes(),
    putBack: () => inForce.putBack(),
    onFailure: (error) => failure.abort(error),
    clock,
  });
  const signal = AbortSignal.any([stop.now, failure.signal, watch.enter(key, key)]);
  using _entered = protection.enter({ token: key, key, task: taskName, index });
  const checks: Checks = {
    run: runCheck,
    trespass: async (calls) => (await watch.trespassOf(key, calls)) ?? (await protection.trespassOf(key, calls)),
    observe: (run) => protection.observe(run),
    watch: (request) => folders.watch(request),
    pause: (milliseconds, signal) => clock.sleep(milliseconds, AbortSignal.any([signal, stop.drain])),
    spentUp: () => spending.reached?.text,
    clock,
    random: Math.random,
  };
  const dev = await perform(order('dev', false), agents, checks, emit, signal);
  const last = dev.to === 'qa' ? await perform(order('qa', true), agents, checks, emit, signal) : dev;
  failure.signal.throwIfAborted();
  const cost = usageText(spending.usage);
  const spent = cost === undefined ? [] : [`this try: ${cost}`];
  if (!options.json) for (const line of [...verdict(taskName, index, dev, last), ...spent]) io.print(line);
  if (stop.now.aborted) return EXIT.interrupted;
  if (last.to === undefined) return last.trouble?.remedy === undefined ? EXIT.stopped : EXIT.agentMissing;
  return last.to === 'done' ? EXIT.done : EXIT.failedItems;
}

/** What its agents change of how items are done is put back, as during a run (rule D5), also if this is killed. */
async function holdDocuments(
  paths: ShiftPaths,
  files: ShiftFiles,
  options: Pick<InForceOptions, 'emit' | 'now'>,
): Promise<InForce> {
  const record = new InForceRecord(paths);
  const inForce = await InForce.open(files, { ...options, check: checkWith(paths), record, writers: keysOfWriters });
  await inForce.read();
  return inForce;
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
