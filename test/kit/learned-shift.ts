import { agentTask, Project, type ShiftHandle } from '../harness.ts';

/** A shift that ran: its row recommended "Knock twice" and "Wear thick gloves", which wait for a second row. */
export async function learnedShift(): Promise<ShiftHandle> {
  const project = new Project();
  const shift = project.shift('night', {
    settings: { lessons: 'careful' },
    table: 'name,work\nant,todo\n',
    tasks: { work: agentTask('1. Open {name}') },
  });
  project.behave({ 'dev:ant': { report: { recommendations: ['Knock twice', 'Wear thick gloves'] } } });
  const { code } = await shift.start();
  if (code !== 0) throw new Error(`the shift ended with ${code}`);
  return shift;
}
