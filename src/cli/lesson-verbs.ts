/** What a person can decide about lessons that are there. */
export const JUDGING_VERBS = ['accept', 'reject', 'pin', 'ban', 'undo'] as const;

/** All verbs of `lessons`; any other word is the name of a task. */
export const LESSON_VERBS = [...JUDGING_VERBS, 'add', 'export'] as const;
