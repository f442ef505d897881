/** What `nightshift fleet status` tells: all shifts and workers that share a database. */
export interface FleetStatus {
  readonly shifts: readonly FleetShift[];
  readonly workers: readonly FleetWorker[];
}

/** `drain`: takes nothing new, running orders finish. `stop`: the same for all workers, and the coordinators end, too. */
type FleetMode = 'run' | 'drain' | 'stop';

export interface FleetShift {
  readonly name: string;
  /** Undefined if none is there. Workers finish what they have, and the next coordinator adopts it. */
  readonly coordinator: { readonly host: string; readonly pid: number; readonly seenSecondsAgo: number } | undefined;
  readonly mode: FleetMode;
  /** Nothing new starts until it is resumed. */
  readonly isPaused: boolean;
  /** How many slots it could use now. */
  readonly wanted: number;
  /** `ended`: a coordinator has not recorded their results yet. */
  readonly orders: { readonly waiting: number; readonly running: number; readonly ended: number };
}

export interface FleetWorker {
  readonly name: string;
  readonly slots: number;
  readonly running: number;
  readonly seenSecondsAgo: number;
  /** Several of its heartbeats are missing. */
  readonly isSilent: boolean;
  readonly mode: FleetMode;
  /** Of Nightshift. */
  readonly version: string;
  /** What it has: `agent:claude`, `secret:API_KEY`, `label:gpu`. */
  readonly offers: readonly string[];
  /** Why it gets no orders, or not some of them, and what to do. */
  readonly problems: readonly string[];
  readonly items: readonly FleetItem[];
}

/** What a worker works on. */
export interface FleetItem {
  readonly shift: string;
  readonly task: string;
  /** 1-based. Absent for a manager, who is asked about the lessons of a task. */
  readonly row?: number;
  readonly label?: string;
  readonly role: 'dev' | 'qa' | 'manager';
}
