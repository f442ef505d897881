import type { LessonRecord } from '../../src/core/learning/lesson.ts';
import type { NightshiftEvent } from '../../src/core/model/events.ts';
import { versionOf } from '../../src/core/model/identity.ts';
import { parseLessons } from '../../src/formats/lessons.ts';
import type { Ended, ShiftHandle } from '../harness.ts';
import { type ExpectedLesson, expectedLessons, type Mode } from './folding-shift.ts';

/** Looks at the lessons of a shift whenever nothing of it runs. */
export class FoldingWitness {
  readonly violations: string[] = [];
  readonly #shift: ShiftHandle;
  readonly #expected: readonly ExpectedLesson[];

  constructor(shift: ShiftHandle, mode: Mode) {
    this.#shift = shift;
    this.#expected = expectedLessons(mode);
  }

  /** A run folds whatever was reported: no file is edited here, so no fold gives up. */
  hear(when: string, { signal, code, stderr, events }: Ended): void {
    if (signal !== 'SIGKILL' && (code !== 0 || stderr !== '')) {
      this.violations.push(`${when}: it ended with ${code}: ${stderr}`);
    }
    for (const { type, message } of events) {
      if (type === 'run:warning' && message.startsWith('lessons of')) this.violations.push(`${when}: ${message}`);
    }
  }

  /** After a kill: nothing is there twice, nothing was recommended by nobody. `when` is for the message. */
  look(when: string): void {
    const tell = (what: string) => this.violations.push(`${when}: ${what}`);
    const lessons = this.#lessons();
    const words = lessons.map((lesson) => this.#wordOf(lesson.text) ?? tell(`an unknown lesson: ${lesson.text}`));
    if (new Set(words).size < words.length) tell(`two records of one lesson: ${words}`);
    if (new Set(lessons.map(({ id }) => id)).size < lessons.length) tell('two lessons have one id');
    for (const { text, support } of lessons) {
      const { rows = [] } = this.#expected.find(({ word }) => word === this.#wordOf(text)) ?? {};
      const others = support.filter(({ row }) => !rows.includes(row));
      if (others.length > 0) tell(`row ${others[0]!.row} did not recommend: ${text}`);
      if (new Set(support.map(({ item }) => item)).size < support.length) tell(`a row supports twice: ${text}`);
    }
    const [author, ...learned] = this.#steps();
    if (author !== 'Make {name}') tell(`the author's step is: ${author}`);
    const inSteps = learned.map((step) => this.#wordOf(step));
    if (new Set(inSteps).size < inSteps.length) tell(`a lesson is twice in the Steps: ${inSteps}`);
    if (inSteps.includes('texts.example')) tell('a held lesson is in the Steps');
  }

  /** After the last run, which folded everything. */
  end(): void {
    this.look('at the end');
    const statuses = new Set(this.#shift.column('make'));
    if (statuses.size > 1 || !statuses.has('done')) {
      this.#tell(`items are ${[...statuses].join(', ')}`);
      return;
    }
    const lessons = this.#lessons();
    const found = lessons.map(({ text, state, support }) => {
      const rows = support.map(({ row }) => row).sort((a, b) => a - b);
      return `${this.#wordOf(text)} ${state} ${rows}`;
    });
    this.#compare(
      'lessons',
      found,
      this.#expected.map(({ word, state, rows }) => `${word} ${state} ${rows}`),
    );
    const firm = lessons.filter(({ state }) => state === 'firm');
    const [, ...learned] = this.#steps();
    this.#compare(
      'Steps',
      learned,
      firm.map(({ text }) => text),
    );
    this.#compare(
      'confirmed',
      lessons.filter(({ inSteps }) => inSteps).map(({ id }) => id),
      firm.map(({ id }) => id),
    );
    this.#checkVotes(lessons);
    this.#checkJournal(lessons);
  }

  /** Each vote that the journal has is counted, once; and the journal has each vote of an agent that counted. */
  #checkVotes(lessons: readonly LessonRecord[]): void {
    const votes = this.#shift.journal().flatMap((event: NightshiftEvent) => {
      if (event.type !== 'attempt:finished' && event.type !== 'qa:finished') return [];
      return (event.votes ?? []).map((vote) => ({ ...vote, row: event.index! + 1, at: event.at, role: event.type }));
    });
    for (const { id, state, since, credit, blame, retirements } of lessons) {
      if (state === 'retired') {
        if (retirements !== 1 || blame.length === 0)
          this.#tell(`${id} was retired ${retirements} times by ${blame.length} rows`);
        continue;
      }
      const own = votes.filter(({ lesson, at }) => state === 'firm' && lesson === id && at > since);
      const harmed = new Set(own.filter(({ effect }) => effect === 'harmed').map(({ row }) => row));
      const helped = new Set(own.map(({ row }) => row).filter((row) => !harmed.has(row)));
      this.#compare(
        `blame of ${id}`,
        blame.map(({ row }) => `${row}`),
        [...harmed].map(String),
      );
      this.#compare(
        `credit of ${id}`,
        credit.map(({ row }) => `${row}`),
        [...helped].map(String),
      );
    }
    for (const [agent, { role, row, said }] of this.#lastAgents()) {
      const type = role === 'dev' ? 'attempt:finished' : 'qa:finished';
      const inJournal = votes.filter((vote) => vote.role === type && vote.row === row);
      const isKept = (vote: string) => inJournal.some(({ lesson, effect }) => `${lesson}:${effect}` === vote);
      for (const vote of said) if (!isKept(vote)) this.#tell(`the vote ${vote} of ${agent} is lost`);
    }
  }

  /** The agents whose results counted: the last of each role and row. */
  #lastAgents(): Map<string, { role: string; row: number; said: string[] }> {
    const lines = this.#shift.project.read('.nightshift/votes.log').split('\n').slice(0, -1);
    return new Map(
      lines.map((line) => {
        const [role, row, , ...said] = line.split(' ');
        return [`${role} ${row}`, { role: role!, row: Number(row), said }];
      }),
    );
  }

  /** Each state was told once, and so were the Steps of today. */
  #checkJournal(lessons: readonly LessonRecord[]): void {
    const told = new Map<string, string[]>();
    const versions = new Set<string>();
    for (const { type, id, to } of this.#shift.journal()) {
      if (type === 'lesson:changed') told.set(id, [...(told.get(id) ?? []), to]);
      if (type === 'steps:changed') versions.add(to);
    }
    if (!versions.has(versionOf(this.#shift.task('make')))) this.#tell('no event told of the Steps');
    for (const { id, state } of lessons) {
      const states = told.get(id) ?? [];
      if (states.at(-1) !== state || new Set(states).size < states.length)
        this.#tell(`${id} is ${state}, told: ${states}`);
    }
  }

  #compare(what: string, found: readonly string[], expected: readonly string[]): void {
    const [a, b] = [[...found].sort().join('; '), [...expected].sort().join('; ')];
    if (a !== b) this.#tell(`${what}: ${a}, not ${b}`);
  }

  #tell(what: string): void {
    this.violations.push(`at the end: ${what}`);
  }

  #lessons(): readonly LessonRecord[] {
    const file = `${this.#shift.folder}/lessons.json`;
    return this.#shift.project.exists(file) ? parseLessons(this.#shift.project.read(file), file).book.lessons : [];
  }

  #steps(): string[] {
    return [...this.#shift.task('make').matchAll(/^\d+\. (.*)$/gm)].map(([, step]) => step!);
  }

  #wordOf(text: string): string | undefined {
    return this.#expected.find(({ word }) => text.includes(word))?.word;
  }
}
