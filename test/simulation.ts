import type { Agent } from '../src/agents/agent.ts';
import { processClock } from '../src/app/run/process-time.ts';
import { History } from '../src/core/folds/history.ts';
import type { Order, Outcome } from '../src/core/model/model.ts';
import { NO_PROTECTION } from '../src/core/model/protection.ts';
import { Returns } from '../src/core/schedule/returns.ts';
import { RunControl } from '../src/engine/control.ts';
import type { RunEnd, RunParts } from '../src/engine/ports.ts';
import { runShift } from '../src/engine/run.ts';
import { compileShift } from '../src/formats/compile.ts';
import { parseManager } from '../src/formats/manager.ts';
import { parseTask, replaceSteps } from '../src/formats/task.ts';
import type { Documents } from '../src/store/documents.ts';
import { MemoryStore } from '../src/store/memory/memory-store.ts';
import { task } from './harness.ts';

/** What a test says about a run of the engine that needs no folder and no process. */
export interface Scene {
  readonly rows: number;
  readonly settings: Readonly<Record<string, string | number | boolean>>;
  /** What becomes of an order; absent: it passes. */
  readonly perform?: (order: Order) => Promise<Partial<Outcome>>;
  /** Right after the Steps were replaced, before the run hears of it. */
  readonly onStepsWritten?: () => Promise<void>;
  /** What the manager's agent answers. */
  readonly manager?: object;
}

export interface Played {
  readonly end: RunEnd;
  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  readonly events: any[];
  readonly store: MemoryStore;
}

const FILES = { name: 'night', root: '/r', folder: '/r/f', table: '/r/f/table.csv', managerFile: '/r/f/manager.md' };

/** The engine's own loop, on a store and documents in memory; dispatch and its events are the real ones. */
export async function play(scene: Scene): Promise<Played> {
  // biome-ignore lint/suspicious/noExplicitAny: events of every kind
  const events: any[] = [];
  const listeners: Parameters<RunParts['listen']>[0][] = [];
  const history = new History();
  const emit: RunParts['emit'] = (happening) => {
    if (happening.type === 'transcript') return;
    const event = { ...happening, at: new Date(0).toISOString(), run: 'r', seq: events.length, shift: 'night' };
    events.push(event);
    history.add(event);
    for (const listener of listeners) listener(event);
  };
  const rows = Array.from({ length: scene.rows }, (_, row) => ({ name: `item ${row + 1}`, make: 'todo' }));
  const store = new MemoryStore({ rows, tasks: ['make'], emit });
  const lines = Object.entries(scene.settings).map(([key, value]) => `- ${key}: ${value}`);
  const manager = `## Shift Configuration\n\n${lines.join('\n')}\n\n## Task Order\n\n1. make\n`;
  let text = task({ configuration: '- agent: simulated', steps: '1. Do {name}', validation: '- {name} is done' });
  const documents: Documents = {
    folderId: async () => 'this',
    finishBatch: async (_, size) => size?.to,
    async writeSteps(_, from, steps) {
      if (from !== text) return undefined;
      text = replaceSteps(text, steps);
      await scene.onStepsWritten?.();
      return text;
    },
    keepVersion: async () => {},
    protect: () => ({ [Symbol.asyncDispose]: async () => {} }),
    putBack: async () => [],
  };
  const load = async () => {
    const parsed = {
      ...FILES,
      manager: parseManager(manager, FILES.managerFile),
      tasks: [{ name: 'make', file: 'make.md', document: parseTask(text, 'make.md') }],
      secrets: new Map<string, string>(),
    };
    return compileShift(parsed, ['name', 'make']);
  };
  const agent = simulatedAgent(scene.manager ?? { changes: [] });
  const parts: RunParts = {
    store,
    owner: 'r',
    documents,
    load,
    agents: () => ({ find: () => agent, secrets: {}, caller: {} }),
    check: async () => ({ kind: 'passed' }),
    folders: {
      enter: () => ({ [Symbol.dispose]() {} }),
      watch: () => Promise.reject(new Error('no qa is asked here')),
    },
    protection: NO_PROTECTION,
    perform: async (order, _agents, _checks, tell) => performed(order, tell, await scene.perform?.(order)),
    emit,
    listen: (listener) => listeners.push(listener),
    inFlight: () => 0,
    flush: async () => {},
    checkKept: () => {},
    history,
    asked: new Map(),
    returns: new Returns(),
    stop: new RunControl(),
    select: () => ({ includes: () => true }),
    endLeftovers: async () => 0,
    clock: processClock(Date.now),
    random: () => 0.5,
  };
  const end = await runShift(parts, await load());
  return { end, events, store };
}

/** Tells what a dev or a qa would tell. */
function performed(order: Order, emit: RunParts['emit'], said: Partial<Outcome> = {}): Outcome {
  const { role, item, key, task: name, version, settings, token } = order;
  const subject = { task: name, index: item.index, item: item.id };
  const agent = settings.agent;
  const outcome: Outcome = {
    ...{ role, id: item.id, token, attempts: 1, verdicts: [], outputs: {}, captured: {}, usage: {}, compacted: false },
    ...{ to: role === 'dev' ? 'qa' : 'done', recommendations: [] },
    ...said,
  };
  if (role === 'dev') {
    emit({ type: 'dev:started', ...subject, agent, key, version });
    const recommendations = [...outcome.recommendations];
    emit({ type: 'dev:finished', ...subject, status: 'SUCCESS', attempts: 1, ms: 0, key, recommendations });
  }
  return outcome;
}

function simulatedAgent(report: object): Agent {
  return {
    name: 'simulated',
    hasModel: false,
    runsSteps: false,
    judges: true,
    hasEnvironment: true,
    credentials: [],
    missing: async () => undefined,
    open: async () => ({
      remembers: false,
      ask: async () => ({ kind: 'report', report }),
      async [Symbol.asyncDispose]() {},
    }),
  };
}
