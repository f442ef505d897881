/** What the control file asks for. Each request stands until it is replaced, so that asking twice changes nothing. */
export interface ControlRequests {
  /** Belongs to the shift: it stands until `resume`, also for the next run. */
  readonly pause?: PauseRequest;
  /** Belongs to one run: the next one does not stop. */
  readonly stop?: StopRequest;
}

interface Request {
  readonly id: string;
  /** ISO 8601. */
  readonly at: string;
  /** The process that asked. */
  readonly pid: number;
  /** Running items are given back instead of finished. */
  readonly now: boolean;
}

export type PauseRequest = Request;

export interface StopRequest extends Request {
  readonly run: string;
  /** Running items stay with the workers of a fleet. Not together with `now`. */
  readonly leave?: boolean;
}

/** `try`: its database ends with the run. */
export type FleetKind = 'env' | 'try';

/** What a run obeys now: how it answers the requests. */
export interface ControlState {
  readonly run: string;
  readonly draining: boolean;
  readonly stopping: boolean;
  readonly leaving: boolean;
  /** Whether it is on a fleet, whose workers it can leave running items with. `try`: not after its end. */
  readonly fleet?: FleetKind | undefined;
  /** How many items were running when it began to obey. */
  readonly running: number;
  readonly pause?: { readonly since: string; readonly now: boolean };
}

/** Undefined: the file is damaged. What is in it besides is passed over. */
export function parseRequests(text: string): ControlRequests | undefined {
  const found = parseObject(text);
  if (!found) return undefined;
  const { pause, stop } = found;
  return { ...(isRequest(pause) ? { pause } : {}), ...(isRequest(stop) && isStop(stop) ? { stop } : {}) };
}

export function parseState(text: string): ControlState | undefined {
  const found = parseObject(text);
  if (typeof found?.run !== 'string') return undefined;
  const { run, draining, stopping, leaving, fleet, running, pause } = found;
  const items = typeof running === 'number' ? running : 0;
  const obeyed = { draining: draining === true, stopping: stopping === true, leaving: leaving === true };
  const kind: FleetKind | undefined = fleet === 'env' || fleet === 'try' ? fleet : undefined;
  const state = { run, ...obeyed, ...(kind && { fleet: kind }), running: items };
  return isPause(pause) ? { ...state, pause } : state;
}

/** A second request that asks for nothing more leaves the first in place: both commands wait for the same. */
export function withStop(requests: ControlRequests, stop: StopRequest): ControlRequests {
  const { stop: before } = requests;
  const isAsked = before?.run === stop.run && (before.now || (!stop.now && (before.leave || !stop.leave)));
  return isAsked ? requests : { ...requests, stop };
}

/** A pause that stands keeps its time; it may become one at once. */
export function withPause(requests: ControlRequests, pause: PauseRequest): ControlRequests {
  const { pause: before } = requests;
  if (!before) return { ...requests, pause };
  return before.now || !pause.now ? requests : { ...requests, pause: { ...pause, at: before.at } };
}

export function withoutPause({ pause: _, ...requests }: ControlRequests): ControlRequests {
  return requests;
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(text);
    return isObject(found) ? found : undefined;
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isRequest(value: unknown): value is Request {
  if (!isObject(value)) return false;
  const { id, at, pid, now } = value;
  return typeof id === 'string' && isTime(at) && typeof pid === 'number' && typeof now === 'boolean';
}

function isStop(request: Request & { readonly run?: unknown; readonly leave?: unknown }): request is StopRequest {
  const { run, leave } = request;
  return typeof run === 'string' && (leave === undefined || typeof leave === 'boolean');
}

function isPause(value: unknown): value is NonNullable<ControlState['pause']> {
  return isObject(value) && isTime(value.since) && typeof value.now === 'boolean';
}

/** It is printed: a file that anyone can write must not bring text to a terminal. */
function isTime(value: unknown): value is string {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT[\d:.]{8,12}Z$/.test(value);
}
