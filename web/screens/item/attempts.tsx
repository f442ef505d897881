import type { ItemAnswer, ItemTaskAnswer } from '../../../src/core/page/answers.ts';
import { bytesText, timeText } from '../../parts/format.ts';
import { type TabChoice, Tabs } from '../../parts/tabs.tsx';
import { visibleOutput, visibleText } from '../../parts/visible-text.ts';
import { go, type ItemPlace } from '../../state/place.ts';
import { Transcript } from '../transcript/transcript.tsx';

interface AttemptsProps {
  readonly place: ItemPlace;
  readonly item: ItemAnswer;
  readonly task: ItemTaskAnswer;
}

const QA = 'qa';

/** Each attempt of the dev, and the qa: how it ended, and what was said. */
export function Attempts({ place, item, task }: AttemptsProps) {
  const numbers = attemptNumbers(task);
  const hasQa = task.transcripts.qa !== undefined || task.session?.role === 'qa';
  if (numbers.length === 0 && !hasQa) return <p class="dim">No attempt yet.</p>;
  const chosen = chosenTab(place, task, numbers, hasQa);
  const attempt = task.attempts.find(({ number }) => String(number) === chosen);
  const role = chosen === QA ? 'qa' : 'dev';
  const size = task.transcripts[role];
  const choose = (id: string) => {
    const next =
      id === QA ? { role: 'qa' as const, attempt: undefined } : { role: 'dev' as const, attempt: Number(id) };
    go({ ...place, task: task.task, ...next }, 'replace');
  };
  const isAtWork = task.session?.role === role && (role === 'qa' || attempt === undefined);
  const worker = isAtWork ? task.session?.worker : role === 'qa' ? task.qaWorker : attempt?.worker;
  const isLatest = role === 'qa' || chosen === String(numbers.at(-1));
  return (
    <section aria-label="Attempts">
      <Tabs
        label="Attempts"
        choices={[...numbers.map((number) => attemptTab(task, number)), ...(hasQa ? [{ id: QA, title: 'qa' }] : [])]}
        chosen={chosen}
        onChoose={choose}
        controls="attempt"
      />
      <div id="attempt" role="tabpanel" aria-label={role === 'qa' ? 'qa' : `Attempt ${chosen}`}>
        {attempt?.reason !== undefined && attempt.reason !== task.failure && (
          <pre class="reason">{visibleOutput(attempt.reason)}</pre>
        )}
        {size === undefined ? (
          <p class="dim">No transcript is kept.</p>
        ) : (
          <>
            <p class="dim">
              Transcript, {bytesText(size)}
              {worker !== undefined && ` on ${visibleText(worker)}`}
              {attempt && <>, ended {timeText(attempt.at)}</>}
            </p>
            <Transcript
              key={`${task.task} ${chosen}`}
              name={{ shift: place.shift, task: task.task, item: item.item, role }}
              attempt={role === 'qa' ? undefined : Number(chosen)}
              startedAfter={task.attempts.find(({ number }) => number === Number(chosen) - 1)?.at}
              endedAt={isLatest ? undefined : attempt?.at}
              isLive={task.session?.role === role && isLatest}
            />
          </>
        )}
      </div>
    </section>
  );
}

/** Those that ended, and the one at work. */
function attemptNumbers({ attempts, session, transcripts }: ItemTaskAnswer): number[] {
  const numbers = new Set(attempts.map(({ number }) => number));
  if (session?.role === 'dev') numbers.add(session.attempt);
  if (numbers.size === 0 && transcripts.dev !== undefined) numbers.add(1);
  return [...numbers].sort((a, b) => a - b);
}

function chosenTab(place: ItemPlace, task: ItemTaskAnswer, numbers: readonly number[], hasQa: boolean): string {
  const isQa = place.role === undefined ? task.session?.role === 'qa' : place.role === 'qa';
  if (hasQa && (isQa || numbers.length === 0)) return QA;
  return String(numbers.find((number) => number === place.attempt) ?? numbers.at(-1) ?? QA);
}

function attemptTab({ attempts, session }: ItemTaskAnswer, number: number): TabChoice {
  const ended = attempts.find((attempt) => attempt.number === number);
  const isAtWork = ended === undefined && session?.role === 'dev';
  const word = isAtWork ? 'at work' : ended?.status === 'SUCCESS' ? 'ok' : ended === undefined ? '' : 'failed';
  return { id: String(number), title: `Attempt ${number}${word === '' ? '' : `: ${word}`}` };
}
