import type { TranscriptEntry } from '../core/events.ts';
import type { Role, Step, Usage } from '../core/model.ts';

/**
 * An agent is a program that plays a role. It is driven through sessions: opened, asked one or more times, closed.
 * None of these functions throws for what the program does: failure is a value, and says whose fault it is.
 */
export interface Agent {
  readonly name: string;
  /** Whether the program is there, before anything is claimed. A sentence with what to do, or undefined. */
  missing(settings: AgentSettings, place: Place): Promise<string | undefined>;
  open(opening: Opening): Promise<Session>;
}

interface AgentSettings {
  readonly command?: string;
  readonly model?: string;
  readonly tools: readonly string[];
}

/** Where a program would run. */
export interface Place {
  /** Absent: each item has its own, so nothing can be said about relative paths yet. */
  readonly folder?: string;
  readonly environment: Readonly<Record<string, string>>;
}

export interface Opening {
  readonly role: Role;
  readonly settings: AgentSettings;
  /** The folder that the agent works in. */
  readonly folder: string;
  readonly transcript: (entry: TranscriptEntry) => void;
  readonly signal: AbortSignal;
}

export interface Session extends AsyncDisposable {
  ask(question: Question): Promise<Answer>;
}

export interface Question {
  readonly prompt: string;
  /** What the `shell` agent runs; agents with a model read the prompt instead. */
  readonly steps: readonly ResolvedStep[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A step whose scripts have their values at hand. */
export interface ResolvedStep extends Omit<Step, 'text' | 'scripts'> {
  readonly scripts: readonly { readonly source: string; readonly values: Readonly<Record<string, string>> }[];
}

export type Answer =
  /** The agent gave a report; nobody has looked at it yet. */
  | { readonly kind: 'report'; readonly report: unknown; readonly usage?: Usage; readonly compacted?: boolean }
  /** It ended without a report that can be read, or badly: this attempt failed. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Not the item's fault (rule X5): give it back. */
  | { readonly kind: 'trouble'; readonly reason: string }
  /** The signal ended it. */
  | { readonly kind: 'aborted' };
