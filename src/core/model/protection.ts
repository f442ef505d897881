/** A working folder, and globs of files in it that no agent may change (`protect:`). */
export interface ProtectedPlace {
  readonly folder: string;
  readonly globs: readonly string[];
}

/** What is at a path. */
export type FileState =
  | { readonly kind: 'file'; readonly mode: number; readonly size: number; readonly hash: string }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'folder'; readonly mode: number }
  /** `other`: a device, a pipe, or something unreadable. */
  | { readonly kind: 'none' | 'other' };

/** A protected file as it was at the start of the run. */
export interface SavedFile {
  readonly path: string;
  readonly state: FileState;
  /** The offset of its content in the record. */
  readonly offset?: number;
}

/** Keeps protected files where a later run finds them if this one is killed. */
export interface ProtectionRecord {
  /** Returns the offset of the content. */
  save(content: Buffer): Promise<number>;
  /** Resolves when these files, and the contents saved so far, are durable. */
  commit(files: readonly SavedFile[]): Promise<void>;
  content(offset: number, size: number): Promise<Buffer>;
  /** An agent still works. */
  signOfLife(): void;
  close(): Promise<void>;
  /** The run has ended normally: there is nothing to restore. */
  remove(): Promise<void>;
}

/** What a killed run left behind. */
export interface FoundRecord {
  readonly files: readonly SavedFile[];
  /** Milliseconds since 1970. */
  readonly lastSign: number;
  content(offset: number, size: number): Promise<Buffer>;
  signOfLife(): void;
  close(): Promise<void>;
  remove(): Promise<void>;
}

export interface ProtectedItem {
  readonly token: string;
  readonly key: string;
  readonly task: string;
  readonly index: number;
}

/** `changed`: protected files that changed meanwhile. `isSame`: their content is restored. */
export interface Observed<T> {
  readonly result: T;
  readonly changed: readonly string[];
  readonly isSame: boolean;
}

/** Keeps protected files as they were at the start of the run (rule D5). */
export interface Protection {
  /** Restores what a killed run left changed, and records the files as they are now. */
  begin(places: readonly ProtectedPlace[]): Promise<void>;
  /** Called before an item is worked on there: protects its files, if they are not protected yet. */
  hold(place: ProtectedPlace): Promise<void>;
  enter(item: ProtectedItem): Disposable;
  /** Why the attempt of this token fails: there is evidence that it changed a protected file. */
  trespassOf(token: string, calls: readonly string[]): Promise<string | undefined>;
  /** Runs a function that relies on the protected files. */
  observe<T>(run: () => Promise<T>): Promise<Observed<T>>;
  end(): Promise<void>;
}

/** Protects nothing. */
export const NO_PROTECTION: Protection = {
  begin: async () => {},
  hold: async () => {},
  enter: () => ({ [Symbol.dispose]() {} }),
  trespassOf: async () => undefined,
  observe: async (run) => ({ result: await run(), changed: [], isSame: true }),
  end: async () => {},
};

/** Whether the input of a tool names a file, by its path or relative to its folder. */
export function namesFile(call: string, folder: string, path: string): boolean {
  if (call.includes(path)) return true;
  const relative = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
  const segments = relative.split('/');
  return isWord(call, relative) || (segments.length > 1 && segments.every((segment) => isWord(call, segment)));
}

/** Not as a part of a longer path or name; a leading `./` does not matter. */
function isWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + 1)) {
    const before = text.slice(0, at).replace(/(?<![\w.-])(?:\.\/)+$/, '');
    const behind = text.charAt(at + word.length);
    if (!/[\w./-]$/.test(before) && !/[\w-]/.test(behind)) return true;
  }
  return false;
}
