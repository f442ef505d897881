/** A folder in which items are worked on, and the globs of files there that nobody may change (`protect:`). */
export interface ProtectedPlace {
  readonly folder: string;
  readonly globs: readonly string[];
}

/** What stands at a path. */
export type FileState =
  | { readonly kind: 'file'; readonly mode: number; readonly size: number; readonly hash: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number }
  /** `other`: a device, a pipe, or what can't be read. */
  | { readonly kind: 'none' | 'other' };

/** A protected file as it was at the start of the run. */
export interface SavedFile {
  readonly path: string;
  readonly state: FileState;
  /** Where its content begins in the record. */
  readonly offset?: number;
}

/** Keeps protected files where a later run finds them if this one is killed. */
export interface ProtectionRecord {
  /** Answers the offset of the content. */
  save(content: Buffer): Promise<number>;
  /** Resolves when these, and the contents saved so far, are durable. */
  commit(files: readonly SavedFile[]): Promise<void>;
  content(offset: number, size: number): Promise<Buffer>;
  /** Somebody is still at work. */
  signOfLife(): void;
  close(): Promise<void>;
  /** The run has ended by itself: nothing is left to put back. */
  remove(): Promise<void>;
}

/** What a killed run left. */
export interface FoundRecord {
  readonly files: readonly SavedFile[];
  /** Milliseconds since 1970. */
  readonly lastSign: number;
  content(offset: number, size: number): Promise<Buffer>;
  signOfLife(): void;
  close(): Promise<void>;
  remove(): Promise<void>;
}

export interface ProtectedFlight {
  readonly token: string;
  readonly key: string;
  readonly task: string;
  readonly index: number;
}

/** `changed`: protected files that were changed meanwhile. `isSame`: they have their content again. */
export interface Observed<T> {
  readonly result: T;
  readonly changed: readonly string[];
  readonly isSame: boolean;
}

/** Holds protected files as they were at the start of the run (rule D5). */
export interface Protection {
  /** Puts back what a killed run left changed, and remembers the files as they are now. */
  begin(places: readonly ProtectedPlace[]): Promise<void>;
  /** An item is about to be worked on there: from now on at the latest its files are held. */
  hold(place: ProtectedPlace): Promise<void>;
  enter(flight: ProtectedFlight): Disposable;
  /** Why the attempt of this token fails: a protected file that it is shown to have changed. */
  trespassOf(token: string, calls: readonly string[]): Promise<string | undefined>;
  /** Runs something that relies on the protected files. */
  observe<T>(run: () => Promise<T>): Promise<Observed<T>>;
  end(): Promise<void>;
}

/** Where there are no files. */
export const NO_PROTECTION: Protection = {
  begin: async () => {},
  hold: async () => {},
  enter: () => ({ [Symbol.dispose]() {} }),
  trespassOf: async () => undefined,
  observe: async (run) => ({ result: await run(), changed: [], isSame: true }),
  end: async () => {},
};

/** Whether the input of a tool names a file, by its path or from inside of its folder. */
export function namesFile(call: string, folder: string, path: string): boolean {
  if (call.includes(path)) return true;
  const relative = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
  const segments = relative.split('/');
  return isWord(call, relative) || (segments.length > 1 && segments.every((segment) => isWord(call, segment)));
}

/** Not as a part of a longer path or name; `./` before it is the same path. */
function isWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const before = text.slice(0, at).replace(/(?<![\w.-])(?:\.\/)+$/, '');
    const behind = text.charAt(at + word.length);
    if (!/[\w./-]$/.test(before) && !/[\w-]/.test(behind)) return true;
  }
  return false;
}
