import { LESSON_VERBS } from './lesson-verbs.ts';

/** Commander's options are untyped; each command reads its own. */
// biome-ignore lint/suspicious/noExplicitAny: see above
export type Options = Record<string, any>;

/** Whether a command changes anything: always, never, or depending on its arguments and options. */
export type Access = 'reads' | 'writes' | ((args: readonly string[], options: Options) => 'reads' | 'writes');

export const writesUnlessDry: Access = (_, { dryRun }) => (dryRun ? 'reads' : 'writes');

/** The verbs of `table`, and whether each changes anything. */
const VERB_ACCESS = {
  ...({ count: 'reads', headers: 'reads', show: 'reads', search: 'reads', slice: 'reads' } as const),
  ...({ edit: 'writes', add: 'writes', import: 'writes', remove: 'writes', reset: 'writes' } as const),
  ...({ 'add-column': 'writes', 'rename-column': 'writes', 'drop-column': 'writes' } as const),
};

export type Verb = keyof typeof VERB_ACCESS;
export const VERBS = Object.keys(VERB_ACCESS) as readonly Verb[];

export function isVerb(text: string): text is Verb {
  return Object.hasOwn(VERB_ACCESS, text);
}

/** The verb is the first or the second word. With a token, `edit` itself checks whose status it is. */
export function tableAccess([first = '', second = '']: readonly string[], { token }: Options): 'reads' | 'writes' {
  const mayEdit = token !== undefined;
  const verbs = [first, second].filter(isVerb).filter((verb) => verb !== 'edit' || !mayEdit);
  return verbs.some((verb) => VERB_ACCESS[verb] === 'writes') ? 'writes' : 'reads';
}

/** Listing and `export` read; a held lesson waits for a person, so no agent at work may decide about it. */
export function lessonsAccess([, verb = '']: readonly string[]): 'reads' | 'writes' {
  return LESSON_VERBS.some((each) => each === verb && each !== 'export') ? 'writes' : 'reads';
}
