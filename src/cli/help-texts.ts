/** What `--help` shows below the options. */
export const EXIT_CODES = `
Exit codes:
  0 all done   1 a bug in Nightshift   2 bad input or usage   3 finished with failed items
  4 stopped, can be resumed   5 already running   6 agent missing or not usable   130 interrupted

Rows are 1-based. Indices (\`table --index\`, JSON) are 0-based, as in qsv.`;

export const LESSONS_HELP = `
  lessons SHIFT [TASK]       lists the lessons; what needs a person comes first
  lessons SHIFT accept ID    puts a held, waiting or retired lesson into the Steps
  lessons SHIFT reject ID    bans one that is not in the Steps
  lessons SHIFT pin ID       keeps a lesson in the Steps, whatever rows say about it
  lessons SHIFT ban ID       removes a lesson from the Steps, for good
  lessons SHIFT undo ID      goes back to the state before the last change
  lessons SHIFT add TEXT     adds a lesson of your own
  lessons SHIFT export       prints them all as Markdown

You can give several ids. All of it works during a run, which takes it before its next item. Name a task that is called
like a verb with --task. \`lesson\`, without s, is for agents that play the manager.`;

export const RETRY_HELP = `
Runs the failed tasks and the later tasks of those rows, and nothing else. --reason, --task and --rows choose among the
failures. The same command continues an interrupted retry.`;
