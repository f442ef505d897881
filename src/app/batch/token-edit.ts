import { votesIn } from '../../core/learning/votes.ts';
import { NightshiftError } from '../../core/model/errors.ts';
import type { ReportedVote } from '../../core/model/events.ts';
import { askedCriteria, localOrder, makeOrder } from '../../core/model/order.ts';
import type { Task } from '../../core/model/shift.ts';
import type { Status } from '../../core/model/status.ts';
import { statusAt } from '../../core/schedule/plan.ts';
import { createMask } from '../../core/text/mask.ts';
import { devOutputs } from '../../core/workspace/outputs.ts';
import { hearDev } from '../../engine/by-hand.ts';
import { leaseTerms } from '../../engine/lease-terms.ts';
import { type OpenBatch, type OpenItem, readBatch, renewBatch, updateItem } from '../../store/folder/batch-file.ts';
import type { ShiftPaths } from '../../store/folder/layout.ts';
import { hashToken, newToken } from '../../store/folder/token.ts';
import type { World } from '../world.ts';
import { type ByHand, locate, openByHand, requireTaskIn } from './by-hand.ts';
import { writeQaPrompt } from './prompts.ts';

export interface TokenEdit {
  readonly column: string;
  readonly index: string;
  readonly value: string;
  readonly token: string;
  readonly reason?: string | undefined;
  readonly recommend?: readonly string[] | undefined;
  readonly captured?: readonly string[] | undefined;
  /** Ids of lessons. */
  readonly helped?: readonly string[] | undefined;
  /** `ID: reason` each. */
  readonly harmed?: readonly string[] | undefined;
}

interface Holder {
  readonly batch: OpenBatch;
  readonly item: OpenItem;
  readonly role: 'dev' | 'qa';
}

/** The status that was written, or why none was. */
export type TokenEditResult =
  | {
      readonly isWritten: true;
      readonly task: string;
      readonly index: number;
      readonly status: Status;
      readonly reason?: string;
      /** False: the dev asked for `qa`, and its item failed. */
      readonly isAsAsked: boolean;
    }
  | {
      readonly isWritten: false;
      readonly reason: string;
      /** Undefined: it did not count as an attempt. */
      readonly attemptsLeft?: number;
    };

/** An agent of an open batch writes its own status (rule O4): only along its role's arrows, only for its own item. */
export async function editWithToken(world: World, paths: ShiftPaths, edit: TokenEdit): Promise<TokenEditResult> {
  const holder = findHolder(paths, edit);
  await renewBatch(paths, world.now());
  await using hand = await openByHand(paths, world, { batch: holder.batch });
  const task = requireTaskIn(hand.shift, holder.batch.task);
  const atHand = { world, paths, hand, task, ...holder };
  const said = masked(edit, hand);
  return await (holder.role === 'dev' ? devEnds(atHand, said) : qaEnds(atHand, said));
}

/** The agent knows the secrets that its prompt names. Outputs that hold one are refused elsewhere. */
function masked(edit: TokenEdit, { shift }: ByHand): TokenEdit {
  const mask = createMask(shift.secrets);
  return {
    ...edit,
    reason: edit.reason === undefined ? undefined : mask.text(edit.reason),
    recommend: edit.recommend?.map((text) => mask.text(text)),
    harmed: edit.harmed?.map((text) => mask.text(text)),
  };
}

/** The item of a token, with the batch and the shift that it belongs to. */
interface ItemAtHand extends Holder {
  readonly world: World;
  readonly paths: ShiftPaths;
  readonly hand: ByHand;
  readonly task: Task;
}

const MAY: Record<Holder['role'], readonly string[]> = { dev: ['qa', 'failed'], qa: ['done', 'failed'] };

function findHolder(paths: ShiftPaths, { column, index, value, token }: TokenEdit): Holder {
  const found = readBatch(paths);
  const hash = hashToken(token);
  const item = found?.batch.items.find(({ dev, qa }) => dev === hash || qa === hash);
  if (!found || !item) {
    throw refuse(
      'the token is not the current one: it is mistyped, or its batch was closed or taken over; nothing was written',
    );
  }
  const role = item.dev === hash ? 'dev' : 'qa';
  const { task } = found.batch;
  if (column !== task || index !== String(item.index)) {
    throw refuse(`this token is for ${task} of row ${item.index + 1} (index ${item.index}), and for nothing else`);
  }
  if (!MAY[role].includes(value))
    throw refuse(`a ${role} writes ${MAY[role].join(' or ')}, not ${JSON.stringify(value)}`);
  return { batch: found.batch, item, role };
}

async function devEnds(atHand: ItemAtHand, edit: TokenEdit): Promise<TokenEditResult> {
  const { world, hand, task, item, batch } = atHand;
  const { ports, shift } = hand;
  const metadata = await requireStatus(atHand, 'in_progress');
  const of = { id: item.id, index: item.index, metadata };
  const order = localOrder(makeOrder(shift, task, { role: 'dev', item: of, key: item.key, token: '' }), shift);
  const votes = readVotes(edit);
  const said =
    edit.value === 'qa'
      ? {
          to: 'qa' as const,
          captured: readCaptured(edit, devOutputs(order)),
          recommendations: edit.recommend ?? [],
          votes,
        }
      : { to: 'failed' as const, reason: edit.reason ?? 'no reason was given', votes };
  const number = (ports.events.history.of(task.name, item.id)?.attempts ?? 0) + 1;
  const statement = { said, number, since: Date.parse(batch.opened), now: world.now() };
  const { signal } = new AbortController();
  const call = { emit: ports.events.emit, signal, drain: signal, spent: signal };
  const verdict = await hearDev(hand.site, order, statement, call);
  await ports.events.flush();
  if (verdict.to === undefined) {
    const attemptsLeft = task.settings.attempts - number;
    const { reason = '', isAttempt } = verdict;
    return { isWritten: false, reason, ...(isAttempt ? { attemptsLeft } : {}) };
  }
  await write(atHand, 'in_progress', verdict.to, verdict.outputs, verdict.reason);
  if (verdict.to === 'failed') {
    return { ...written(atHand, 'failed', verdict.reason), isAsAsked: edit.value === 'failed' };
  }
  if (askedCriteria(task).length === 0) {
    await write(atHand, 'qa', 'done');
    return written(atHand, 'done', 'every criterion has a check, and all of them passed: no qa is needed');
  }
  await handOver(atHand, { ...metadata, ...verdict.outputs });
  return written(atHand, 'qa');
}

/** The token of the qa is made only now. */
async function handOver({ paths, hand, task, item }: ItemAtHand, metadata: Record<string, string>): Promise<void> {
  const token = newToken();
  await writeQaPrompt({ paths, shift: hand.shift, task }, { ...item, metadata }, token);
  await updateItem(paths, item.id, { qa: hashToken(token) });
}

async function qaEnds(atHand: ItemAtHand, edit: TokenEdit): Promise<TokenEditResult> {
  const { hand, task, item } = atHand;
  const { value, reason } = edit;
  const metadata = await requireStatus(atHand, 'qa');
  const order = makeOrder(hand.shift, task, { role: 'qa', item: { ...item, metadata }, token: '' });
  const votes = votesIn(order, { status: '', votes: readVotes({ harmed: edit.harmed }) });
  const to = value as 'done' | 'failed';
  const why = to === 'failed' ? (reason ?? 'qa failed it, without a reason') : undefined;
  hand.ports.events.emit({
    type: 'qa:finished',
    task: task.name,
    index: item.index,
    item: item.id,
    status: to === 'done' ? 'PASS' : 'FAIL',
    ms: 0,
    ...(why === undefined ? {} : { reason: why }),
    verdicts: [],
    key: item.key,
    ...(votes.length > 0 && { votes }),
  });
  await hand.ports.events.flush();
  await write(atHand, 'qa', to, {}, why);
  return written(atHand, to, why);
}

/** The metadata of the item, if its status is the one that this role may change. */
async function requireStatus(atHand: ItemAtHand, status: Status): Promise<Record<string, string>> {
  const snapshot = await atHand.hand.ports.store.snapshot();
  const row = locate(snapshot, atHand.batch, atHand.item);
  if (row === undefined) throw refuse('its row is gone, and nothing was written');
  const is = statusAt(snapshot, row, snapshot.tasks.indexOf(atHand.task.name));
  if (is !== status) throw refuse(`its status is ${is}, not ${status}: nothing was written`);
  return snapshot.metadata(row);
}

async function write(
  atHand: ItemAtHand,
  from: Status,
  to: Status,
  outputs: Readonly<Record<string, string>> = {},
  reason?: string,
): Promise<void> {
  const { store, events } = atHand.hand.ports;
  const snapshot = await store.snapshot();
  const row = locate(snapshot, atHand.batch, atHand.item);
  const cell = row === undefined ? undefined : { id: snapshot.id(row), task: atHand.task.name };
  const claim = cell && (await store.adopt(cell, leaseTerms(atHand.hand.ports)));
  if (!claim) throw refuse('the item was taken away, and nothing was written');
  const recorded = await store.record(claim.token, from, to, outputs, reason);
  await events.flush();
  if (!recorded.ok) throw refuse(`${recorded.why}, and nothing was written`);
}

function readVotes({ helped = [], harmed = [] }: Pick<TokenEdit, 'helped' | 'harmed'>): ReportedVote[] {
  return [
    ...harmed.map((text): ReportedVote => {
      const [, lesson = '', reason = ''] = /^\s*(L\d+)[\s:]*([\s\S]*)$/.exec(text) ?? [];
      return { lesson, effect: 'harmed', reason };
    }),
    ...helped.map((lesson): ReportedVote => ({ lesson: lesson.trim(), effect: 'helped', reason: '' })),
  ];
}

function readCaptured({ captured = [] }: TokenEdit, declared: readonly string[]): Record<string, string> {
  const values: Record<string, string> = Object.fromEntries(
    captured.map((text) => {
      const equals = text.indexOf('=');
      if (equals <= 0) throw new NightshiftError('usage', `--captured ${JSON.stringify(text)} is not NAME=VALUE`);
      return [text.slice(0, equals), text.slice(equals + 1)];
    }),
  );
  const missing = declared.find((name) => !Object.hasOwn(values, name));
  const unknown = Object.keys(values).find((name) => !declared.includes(name));
  const list = declared.length === 0 ? 'no outputs' : `the outputs ${declared.join(', ')}`;
  if (unknown !== undefined) throw new NightshiftError('usage', `the task declares ${list}, not ${unknown}`);
  // Nothing was tried yet, so this does not count as an attempt.
  if (missing !== undefined) {
    const hint = `add --captured ${missing}=VALUE`;
    throw new NightshiftError('usage', `the declared output \`${missing}\` is missing`, hint);
  }
  return values;
}

function written({ item, task }: ItemAtHand, status: Status, reason?: string) {
  const subject = { task: task.name, index: item.index };
  return { isWritten: true, ...subject, status, ...(reason === undefined ? {} : { reason }), isAsAsked: true } as const;
}

function refuse(message: string): NightshiftError {
  return new NightshiftError('bad-transition', message);
}
