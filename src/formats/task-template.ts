/** The beginning of a step or criterion that is still the template's. */
export const UNWRITTEN = 'Replace this:';

/**
 * The file that `nightshift add-task` writes: valid, with a step and a criterion to replace. It has no placeholders,
 * because the columns of the table are not known here.
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
