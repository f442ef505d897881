import type { AgentTraits } from '../core/model/agent-traits.ts';
import type { TranscriptEntry } from '../core/model/events.ts';
import type { ResolvedScript, Role, Step, Trouble, Usage } from '../core/model/model.ts';
import type { Mask } from '../core/text/mask.ts';
import type { Sandbox } from '../core/workspace/sandbox.ts';

/** An agent plays a role. What is known about it without its program comes first. */
export interface Agent extends AgentTraits, AgentProgram {
  readonly name: string;
  /** Whether its shell gets the item's variables as environment. If not, the prompt carries them. */
  readonly hasEnvironment: boolean;
  /** The caller's variables that its program logs in with: names, or `PREFIX_*`. */
  readonly credentials: readonly string[];
}

/**
 * The program behind an agent. It works in sessions: opened, asked one or more times, closed. These functions don't
 * throw for what the program does: a failure is a value that says whose fault it is. If a program keeps something for
 * the whole run, such as a server, it ends that when it is disposed.
 */
export interface AgentProgram extends Partial<AsyncDisposable> {
  /**
   * Called before anything is claimed. Undefined if the program can be started; otherwise a sentence with what to do.
   */
  missing(settings: AgentSettings, context: LaunchContext): Promise<string | undefined>;
  /**
   * Called before anything is claimed, if its program is there. Why its model can't answer, as far as the program says
   * so without a call that costs money: a sentence with what to do. Undefined if nothing is known against it.
   */
  unusable?(settings: AgentSettings, context: LaunchContext): Promise<string | undefined>;
  /** For `doctor`; absent or undefined if there is nothing to inspect. */
  inspect?(context: LaunchContext): Promise<Inspection | undefined>;
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
  /** Absent: each item has its own folder, so relative paths can't be checked yet. */
  readonly folder?: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** What `doctor` learns about a program without asking a model. */
export interface Inspection {
  /** Absent: it is not installed. */
  readonly version?: string;
  /** The version that Nightshift is tested with. */
  readonly tested: string;
  /** Absent: the program can't tell without a call that costs money. */
  readonly isLoggedIn?: boolean;
  /** What to do, if anything. */
  readonly hint?: string;
}

export interface Opening {
  readonly role: Role;
  readonly settings: AgentSettings;
  /** The folder that the agent works in. */
  readonly folder: string;
  /** A private folder for files that the program needs, removed when the order is finished. */
  readonly scratch: string;
  /** The shift's files. A dev must not touch them, and the program is told so if possible. */
  readonly shiftFolder: string;
  readonly transcript: (entry: TranscriptEntry) => void;
  /** For text that is cut before it is emitted: half a secret can't be found later. */
  readonly mask: Mask;
  readonly signal: AbortSignal;
  /** What its program and everything that it starts can see, write and reach. Absent: all that you can. */
  readonly sandbox?: Sandbox;
}

export interface Session extends AsyncDisposable {
  /** Whether the session remembers the questions before. */
  readonly remembers: boolean;
  ask(question: Question): Promise<Answer>;
}

export interface Question {
  readonly prompt: string;
  /** The form of the report as a JSON Schema, for structured output. */
  readonly schema: object;
  /** For an agent that runs the steps itself; the others read the prompt. */
  readonly steps: readonly ResolvedStep[];
  readonly environment: Readonly<Record<string, string>>;
}

/** A step, and its scripts with their values. */
export interface ResolvedStep extends Omit<Step, 'text' | 'scripts'> {
  readonly scripts: readonly ResolvedScript[];
}

/**
 * `usage`: what this question cost, also if it failed. `compacted`: the session lost context. `model`: which one
 * answered, if known.
 */
export type Answer = AnswerKind & { readonly usage?: Usage; readonly compacted?: boolean; readonly model?: string };

type AnswerKind =
  /** The agent gave a report, which is not checked yet. */
  | { readonly kind: 'report'; readonly report: unknown }
  /** It ended its turn without a report in its answer, and may be asked for it again. */
  | { readonly kind: 'no-report'; readonly reason: string }
  /** The attempt failed. */
  | { readonly kind: 'failed'; readonly reason: string }
  /** Not the item's fault (rule X5): give it back. */
  | { readonly kind: 'trouble'; readonly trouble: Trouble }
  /** The signal ended it. */
  | { readonly kind: 'aborted' };
