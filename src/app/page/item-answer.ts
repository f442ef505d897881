import { statSync } from 'node:fs';
import { itemKey } from '../../core/model/identity.ts';
import type {
  DiffAnswer,
  ItemAnswer,
  ItemTaskAnswer,
  SessionAnswer,
  WorkspaceAnswer,
} from '../../core/page/answers.ts';
import { createMask } from '../../core/text/mask.ts';
import { ShiftFiles } from '../../store/folder/documents/shift-files.ts';
import { describeItem, type ItemTask } from '../read-item.ts';
import { diffItem } from '../workspaces/diff-row.ts';
import type { WorkspaceReport } from '../workspaces/report.ts';
import type { World } from '../world.ts';
import type { ShiftReading } from './shift-reader.ts';

const LONGEST_DIFF = 1024 * 1024;
const TOO_LARGE = 'It is too large to show: `nightshift diff SHIFT ROW > FILE` writes it.';

/** Everything about one row, except for what was said. `sessions`: what is at work now. */
export async function answerItem(
  world: World,
  reading: ShiftReading,
  index: number,
  sessions: readonly SessionAnswer[],
): Promise<ItemAnswer> {
  const { place, shift } = reading;
  const { row, item, label, metadata, tasks, workspace } = await describeItem(
    world,
    { ...reading, paths: place.paths },
    index,
  );
  const mask = createMask(shift.secrets);
  const isDone = tasks.every(({ status }) => status === 'done');
  return {
    row,
    item,
    ...(label === undefined ? {} : { label }),
    metadata: Object.fromEntries(Object.entries(metadata).map(([name, cell]) => [name, mask.text(cell)])),
    tasks: await Promise.all(
      tasks.map(async (each) => {
        const session = sessions.find(({ task, item: id }) => task === each.task && id === item);
        return { ...(await answerTask(reading, item, each)), ...(session ? { session } : {}) };
      }),
    ),
    ...(workspace ? { workspace: describeWorkspace(workspace, isDone) } : {}),
  };
}

async function answerTask(reading: ShiftReading, item: string, known: ItemTask): Promise<ItemTaskAnswer> {
  const { place, shift, history } = reading;
  const { task, status, key, attempts = [], dev, qa, failure, captured = {}, usage = {}, version } = known;
  const past = history.of(task, item);
  const stepsVersion = version === undefined ? undefined : await numberOf(reading, task, version);
  const qaWorker = qa?.worker ?? past?.qa?.worker;
  const [devModel, qaModel] = [dev?.model ?? past?.dev?.model, qa?.model ?? past?.qa?.model];
  const ms = dev?.ms ?? past?.dev?.ms;
  return {
    ...{ task, status, key, attempts, captured: createMask(shift.secrets).deep(captured), usage },
    verdicts: qa?.verdicts ?? [],
    ...(failure === undefined ? {} : { failure }),
    ...(ms === undefined ? {} : { ms }),
    ...(devModel === undefined ? {} : { devModel }),
    ...(qaModel === undefined ? {} : { qaModel }),
    ...(qaWorker === undefined ? {} : { qaWorker }),
    ...(stepsVersion === undefined ? {} : { stepsVersion }),
    transcripts: Object.fromEntries(
      ['dev', 'qa'].flatMap((role) => {
        const size = sizeOf(place.paths.transcript(task, itemKey(shift.identity, task, item), role));
        return size === undefined ? [] : [[role, size]];
      }),
    ),
  };
}

/** Undefined if that version is not kept. */
async function numberOf({ place }: ShiftReading, task: string, wanted: string): Promise<number | undefined> {
  const versions = await new ShiftFiles(place.paths).versions.all(task);
  return versions.find(({ version }) => version === wanted)?.number;
}

function sizeOf(file: string): number | undefined {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    return found?.isFile() ? found.size : undefined;
  } catch {
    return undefined;
  }
}

function describeWorkspace(report: WorkspaceReport, isDone: boolean): WorkspaceAnswer {
  const { folder, branch, base, state, change, delivery } = report;
  const { files = 0, added = 0, deleted = 0 } = change ?? {};
  return {
    folder,
    branch,
    ...(base === null ? {} : { base }),
    state,
    ...{ files, added, removed: deleted },
    isHeld: isDone && delivery !== undefined && delivery.state !== 'done',
    ...(delivery?.url === undefined ? {} : { url: delivery.url }),
  };
}

/** What a row changed, without secrets. */
export async function answerDiff(world: World, reading: ShiftReading, index: number): Promise<DiffAnswer> {
  const { text = TOO_LARGE } = await diffItem(world, { ...reading, paths: reading.place.paths }, index, { args: [] });
  return { text: text.slice(0, LONGEST_DIFF), isCut: text.length > LONGEST_DIFF };
}
