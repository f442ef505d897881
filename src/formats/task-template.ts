/** What a step or a criterion begins with that nobody has written yet. */
export const UNWRITTEN = 'Replace this:';

/**
 * What `nightshift add-task` writes: valid as it is, with a step and a criterion that a person replaces. It holds no
 * placeholder, which would have to name a column of a table that is not known here.
 */
export function createTask(name: string): string {
  return `# ${name}

## Configuration

<!-- Optional, one per line, for this task only. For example:
- agent: command
- command: ./agent.sh
- timeout: 30m
-->

## Steps

<!-- How one item is done. The name of a column in braces stands for the item's value in that column.
     With \`agent: shell\` the fenced sh blocks below a step are run as they are, without a model. -->

1. ${UNWRITTEN} what to do first with one item.

## Validation

<!-- How one can tell that the item was done well; an independent agent judges each bullet.
     One with a fenced sh block is checked by running it instead. For example:
- The page exists.
  ~~~sh
  test -f page.html
  ~~~
-->

- ${UNWRITTEN} what must be true when the item is done.
`;
}
