import { agentEnvironment, placeEnvironment } from '../../agents/environment.ts';
import type { LessonOrder, LessonOutcome } from '../../core/model/lesson-order.ts';
import { managerPrompt } from '../../roles/prompt.ts';
import { readManagerReport } from '../../roles/report.ts';
import { Conversation } from './conversation.ts';
import { takeScratch } from './scratch.ts';
import { Transcript } from './transcript.ts';
import { type Call, type EquippedSite, maskOf } from './worker-ports.ts';

/** Asks the agent of a task to group and word recommendations. */
export async function performLesson(site: EquippedSite, order: LessonOrder, call: Call): Promise<LessonOutcome> {
  const { role, settings, task, version } = order;
  const agent = site.agents.find(settings.agent)!;
  const mask = maskOf(site);
  const taken = takeScratch(site.scratch);
  if (taken instanceof Error) return { role, reason: taken.message };
  await using scratch = taken;
  using timeout = site.clock.timeout(settings.timeoutMs);
  await using conversation = new Conversation(
    agent,
    {
      role,
      folder: site.place.root,
      scratch: scratch.folder,
      shiftFolder: site.place.folder,
      settings,
      mask,
      signal: AbortSignal.any([call.signal, timeout.signal]),
    },
    new Transcript(call.emit, mask, () => ({ role, task, key: version, agent: agent.name })),
    call.spent,
  );
  const reply = await conversation.ask(
    {
      whole: () => managerPrompt(order),
      steps: [],
      environment: agentEnvironment({
        caller: site.agents.caller,
        passEnv: [...agent.credentials, ...settings.passEnv],
        secrets: site.secrets,
        own: lessonEnvironment(site, order),
      }),
    },
    readManagerReport,
  );
  if (reply.kind === 'aborted') return { role, reason: 'it was stopped' };
  if (reply.kind === 'trouble') return { role, reason: mask.text(reply.trouble.reason) };
  if (reply.kind !== 'report') return { role, reason: mask.text(reply.reason) };
  const { lessons, summary } = reply.report;
  const masked = lessons.map((lesson) => ({ ...lesson, text: mask.text(lesson.text) }));
  return { role, proposal: { lessons: masked, summary: mask.text(summary) } };
}

function lessonEnvironment({ place }: EquippedSite, { role, shift, task }: LessonOrder): Record<string, string> {
  return {
    NIGHTSHIFT_ROLE: role,
    NIGHTSHIFT_SHIFT: shift.name,
    ...placeEnvironment(place),
    NIGHTSHIFT_TASK: task,
  };
}
