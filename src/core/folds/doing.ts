import type { TranscriptEntry } from '../model/events.ts';
import { oneLine } from '../text/printable.ts';

const LONGEST = 100;

/** Agents without a model: what they print is what they do. */
const PROGRAMS = ['shell', 'command'];

/** The names that programs give to their tools, without case and punctuation. */
const VERBS: ReadonlyMap<string, string> = new Map(
  Object.entries({
    read: 'read view readfile viewfile readtextfile notebookread',
    write: 'write create writefile createfile writetextfile',
    edit: 'edit multiedit editfile patch applypatch strreplace strreplaceeditor replace notebookedit',
    run: 'bash shell exec execcommand execute command run runcommand runshellcommand terminal',
    search: 'grep search rg codesearch searchfilecontent websearch',
    list: 'glob list ls listdirectory listfiles',
    fetch: 'fetch webfetch',
    plan: 'todowrite todoread updateplan',
    delegate: 'task agent',
    report: 'structuredoutput',
  }).flatMap(([verb, names]) => names.split(' ').map((name) => [name, verb] as const)),
);

/** The inputs that name what a tool works on, the most telling first. */
const OBJECTS = ['filePath', 'file_path', 'notebook_path', 'command', 'cmd', 'pattern', 'query', 'path', 'url'];

/** Says what an agent is doing, in a few words: `edit src/a.ts`, `run npm test`, `step 2: compiling`. */
export class Doing {
  readonly #isProgram: boolean;
  readonly #root: string;
  #step = '';

  /** `root`: paths below this folder are shown relative to it. */
  constructor(agent: string, root: string | undefined) {
    this.#isProgram = PROGRAMS.includes(agent);
    this.#root = root === undefined ? '' : `${root}/`;
  }

  /** Undefined if the entry does not tell. */
  of(entry: TranscriptEntry): string | undefined {
    switch (entry.kind) {
      case 'tool-call':
        return this.#call(entry.tool, entry.text);
      case 'note':
        if (!this.#isProgram) return undefined;
        this.#step = oneLine(entry.text, LONGEST);
        return this.#step;
      case 'output':
      case 'error': {
        const line = this.#isProgram ? lastLine(entry.text) : '';
        if (line === '') return undefined;
        return oneLine(this.#step === '' ? line : `${this.#step}: ${line}`, LONGEST);
      }
      default:
        return undefined;
    }
  }

  #call(tool: string, text: string): string {
    const [first = ''] = tool.split(' ');
    const verb = VERBS.get(first.toLowerCase().replace(/[^a-z]/g, ''));
    if (verb === 'plan' || verb === 'report') return verb;
    const object = this.#objectIn(text);
    // Without an input, the name is a title: `Edit src/a.ts`.
    if (verb === undefined || object === '') return oneLine(verb === undefined ? `call ${tool}` : tool, LONGEST);
    return oneLine(`${verb} ${object}`, LONGEST);
  }

  #objectIn(text: string): string {
    const input = parse(text);
    const found = OBJECTS.map((key) => input[key]).find((value) => typeof value === 'string' || Array.isArray(value));
    const object = found === undefined ? patchedFile(text) : Array.isArray(found) ? found.join(' ') : String(found);
    const line = object
      .trim()
      .split('\n')[0]!
      .replace(/^(\/\S*\/)?(ba|z)?sh -l?c /, '');
    return line
      .replaceAll(this.#root, '')
      .replace(/^cd \S+ && /, '')
      .replace(/^(['"])(.*)\1$/, '$2');
  }
}

function parse(text: string): Readonly<Record<string, unknown>> {
  try {
    const input: unknown = JSON.parse(text);
    const one = Array.isArray(input) ? input[0] : input;
    return typeof one === 'object' && one !== null ? one : {};
  } catch {
    return {};
  }
}

/** A patch names its files inside of its text. */
function patchedFile(text: string): string {
  return /\*\*\* (?:Update|Add|Delete) File: ([^\\\n"]+)/.exec(text)?.[1] ?? '';
}

/** The last line with words; a report as JSON is not for people. */
function lastLine(text: string): string {
  const lines = text.split('\n').map((line) => line.trim());
  return lines.findLast((line) => /[\p{L}\p{N}]/u.test(line) && !/^["{}[\]]/.test(line)) ?? '';
}
