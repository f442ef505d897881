import type { AgentTraits } from '../core/model/agent-traits.ts';
import type { TranscriptEntry } from '../core/model/events.ts';
import type { Role, Step, Trouble, Usage } from '../core/model/model.ts';
import type { Mask } from '../core/text/mask.ts';

/**
 * An agent is a program that plays a role. It is driven through sessions: opened, asked one or more times, closed.
 * None of these functions throws for what the program does: failure is a value, and says whose fault it is.
 * An agent that keeps something for the whole run (a server) lets go of it when it is disposed.
 */
export interface Agent extends AgentTraits, Partial<AsyncDisposable> {
  readonly name: string;
  /** Whether its shell gets the item's variables as its environment; if not, the prompt has to carry them. */
  readonly hasEnvironment: boolean;
  /** The variables of the caller that its program logs in with: names, or `PREFIX_*`. */
  readonly credentials: readonly string[];
  /** Whether the program is there, before anything is claimed. A sentence with what to do, or undefined. */
  missing(settings: AgentSettings, context: LaunchContext): Promise<string | undefined>;
  /** For `doctor`; absent where there is nothing to inspect. */
  inspect?(context: LaunchContext): Promise<Inspection>;
  open(opening: Opening): Promise<Session>;
}

export interface AgentSettings {
  readonly command?: string;
  readonly acpCommand?: string;
  readonly model?: string;
  /** What `tools:` names: `bash`, and MCP servers. */
  readonly tools: readonly string[];
}

/** Where a program would run. */
export interface LaunchContext {
  /** Absent: each item has its own, so nothing can be said about relative paths yet. */
  readonly folder?: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** What `doctor` finds out about a program without asking a model. */
export interface Inspection {
  /** Absent: it is not installed. */
  readonly version?: string;
  /** The version that Nightshift's tests drive. */
  readonly tested: string;
  /** Absent: the program can't say without a call that costs. */
  readonly isLoggedIn?: boolean;
  /** Nothing can be asked without a login. Absent: it has one, or a provider of the user's own may need none. */
  readonly needsLogin?: true;
  /** What to do, if something is to be done. */
  readonly hint?: string;
}

export interface Opening {
  readonly role: Role;
  readonly settings: AgentSettings;
  /** The folder that the agent works in. */
  readonly folder: string;
  /** A private folder for files that the program needs; gone when the order is finished. */
  readonly scratch: string;
  /** Files of the shift: a dev has no business there, and the program is told so if it can be. */
  readonly shiftFolder: string;
  readonly transcript: (entry: TranscriptEntry) => void;
  /** For what is cut before it is told: half a secret is found by nobody. */
  readonly mask: Mask;
  readonly signal: AbortSignal;
}

export interface Session extends AsyncDisposable {
  /** Whether the next question would be asked of somebody who remembers the ones before. */
  readonly remembers: boolean;
  ask(question: Question): Promise<Answer>;
}

export interface Question {
  readonly prompt: string;
  /** The form of the report as a JSON Schema, for programs that have structured output. */
  readonly schema: object;
  /** What the `shell` agent runs; agents with a model read the prompt instead. */
  readonly steps: readonly ResolvedStep[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A step whose scripts have their values at hand. */
export interface ResolvedStep extends Omit<Step, 'text' | 'scripts'> {
  readonly scripts: readonly { readonly source: string; readonly values: Readonly<Record<string, string>> }[];
}

/**
 * `usage`: what this question cost, also when it failed. `compacted`: the session lost context meanwhile. `model`: which
 * one answered, where the program tells it.
 */
export type Answer = AnswerKind & { readonly usage?: Usage; readonly compacted?: boolean; readonly model?: string };

type AnswerKind =
  /** The agent gave a report; nobody has looked at it yet. */
  | { readonly kind: 'report'; readonly report: unknown }
  /** It came to the end of its turn, but what it said holds no report: it may be asked for once more. */
  | { readonly kind: 'no-report'; readonly reason: string }
  /** It ended badly: this attempt failed. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Not the item's fault (rule X5): give it back. */
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  /** The signal ended it. */
  | { readonly kind: 'aborted' };
