import type { ShiftHandle } from '../harness.ts';

/** What an action and its command line leave behind, without times, processes and places. */
export function remains(shift: ShiftHandle): unknown {
  const { project } = shift;
  const volatile = ['at', 'elapsed', 'ms', 'pid', 'by', 'commit', 'base', 'seq', 'folder', 'since', 'request'];
  const journal = shift.journal().map((event) => {
    const kept = Object.entries(event).filter(([name]) => !volatile.includes(name));
    const text = JSON.stringify(Object.fromEntries(kept))
      .replaceAll(project.root, 'ROOT')
      .replaceAll(/"ms":\d+/g, '');
    return event.run === '' ? text : text.replaceAll(event.run, 'RUN');
  });
  const text = (file: string) =>
    project.exists(`${shift.folder}/${file}`) ? project.read(`${shift.folder}/${file}`) : '';
  const lessons = text('lessons.json').replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME');
  return { table: shift.tableText.replaceAll(/\b[0-9a-f]{40}\b/g, 'COMMIT'), journal, lessons, task: text('work.md') };
}
