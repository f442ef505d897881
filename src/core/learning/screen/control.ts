import type { Author } from './author.ts';
import type { Finding } from './finding.ts';
import { findPhrases, phrases } from './phrases.ts';
import { stem, wordsOf } from './words.ts';

const LISTS = {
  orders: `(instruction|rule|step|prompt|guideline|direction|directive|order|constraint|restriction|limit)s?
    guidance
    polic(y|ies)`,
  people: '(operator|administrator|admin|author|owner|manager|human|person|user|developer|superior)s?|people|boss',
  judges: `(qa|quality (assurance|control)|verdicts?)
    (reviewer|grader|judge|evaluator|auditor|supervisor|overseer|orchestrator|checker|inspector|validator)s?`,
  result: 'done|pass(ed|ing)|completed?|finished|successful|success|succeeded|approved|excellent|in_progress|todo',
};

/** What a lesson never speaks of, whatever the author's Steps say. */
const NEVER: readonly RegExp[] = [
  ...phrases(
    String.raw`
    night ?shift
    (manager.md|table.csv|lessons.json)
    (system|developer|hidden|initial|original|your|this|the) (message|instructions?)
    prompts?
    (disregard|circumvent|bypass|jail ?break|overrul|supersed|obey|comply|complian|pretend)*
    (ignor|overrid|replac|break|violat|chang|unlearn)* ... <orders>
    ignor* (the )?(all|everything|anything|what|whatever|above|previous|prior|earlier|that|this|it|them|any|other|every)
    (previous|earlier|prior|preceding|foregoing|former) (\w+ )?(<orders>|messages?|lessons?)
    (old|new|other|further|additional|original|initial) (\w+ )?(<orders>|messages?|lessons?)
    what(ever)? (\w+ ){1,6}(says?|said|tells?|told|asks?|asked|wants?|demands?|requests?|orders?|means?)
    you (were|are|have been|had been) (told|given|now|asked|instructed|allowed|free|permitted)
    act as
    role ?play*
    follow* (the|any|all|every|each|its|their|those|these) (\w+ )?(<orders>|commands?|requests?|comments?|links?)
    <judges>
    (whoever|(who|that) (check|judge|review|grade)s? (this|it|your|the work))
    (assistants?|chat ?bots?|language models?|llms?|ai (agent|model|system)s?)
    (mark|set|flag|record|count|treat|declare|consider|report|label|leave|put|call|take|rate)* ... <result>
    report(s|ed|ing)? (success|failure|done|nothing|only|that|it|as|this)
    (your|own|final|dev|dev's|agent's) reports?
    (your|own|items?|item's|rows?|row's|tasks?|task's|its|the final) status
    status(es)? of (the |this |an? |every |each |all )?(item|row|task|run)s?
    status (to|is|as) (done|passed|failed|todo)
    (other|remaining|next|previous|following|later|all|every|earlier) (row|item|run|session|attempt|agent|dev|task)s?
    (other|remaining|next|previous|following|later|all|every|earlier) batch(es)?
    <people> ... (approv|allow|permit|want|say|said|ask|order|authori[sz]|agree|confirm)*
    operators?
    in charge
    (stands? for|is short for|code ?words?|secretly|(secret|real) meaning|actually means)
    when(ever)? (you )?(see|read|hear) the word
    (combine|concatenate|join|append|read) ... (steps?|lessons?|letters?|words? of)
    (backwards?|decod*|decipher*|rot ?13|word for word)
    this (sentence|lesson|line of text|advice|hint|rule|note|recommendation|job|task|shift|run|session)
    (first|second|third|last|whole) (job|task)
    (your|final) (answer|response|reply|output|work|summary)
    (green light|permission|cancell?ed|somebody else|someone else)
    (from (here|now) on|(before|above) this)
    (all|everything) (is|was) (well|fine|ok|okay)
    (hid|conceal)(e|es|ing)? ... from ((the|a|your|our|any|every) )?(<people>|<judges>|anyone|anybody|everyone|everybody)
    without (telling|mentioning|informing|asking|notifying)
    (keep|stay|remain)* ... (a secret|secret|unnoticed|undetected)
    takes? precedence`,
    LISTS,
  ),
  /\.nightshift\b/i,
  /(?<!\b(?:not|never|don't|dont) )\bforget\b/i,
  /\bin reverse\b(?! (?:order|chronological))/i,
  /(?:^|[.;:!?]\s*)(?:always )?answer (?:with|that|only|by|in)\b/i,
  // As an order: "say so" and "pages that state it" are harmless.
  /(?:^|[.,;:!?]\s*|\b(?:and|then|also|to|must|should|always|please|just)\s+)(?:say|claim|state|declare|insist|confirm|certify) (?:that|it|everything|all)\b/i,
  ...['the|what|everything|anything|all|that', '(?:instruction|rule|step|order)s?'].map(
    (subject) =>
      new RegExp(
        `\\b(?:${subject})(?: (?:is|was|stands?|said|written|told|text|rules?|steps?|orders?|instructions?))? ` +
          '(?:above|earlier|previously)(?! (?:it|the|this|that|them|a|an|each|every)\\b)',
        'i',
      ),
  ),
];

/** What a lesson speaks of only if the author's Steps do. */
const UNLESS_KNOWN: readonly RegExp[] = [
  ...phrases(`
    criteri(on|a)
    instructions?
    recommend*
    lessons?`),
  new RegExp(
    '(?<!\\b(?:form|input|schema|field|client|server|json|type|data|html|e-?mail|side|built-in)[ -])\\bvalidations?\\b' +
      '(?! (?:error|message|librar|attribute|schema|function)s?)',
    'i',
  ),
  // "An HTML table" and "the table of contents" are part of a page.
  new RegExp(
    '(?<!\\b(?:html|markdown|database|db|lookup|hash|pivot|sql|data|an?|wide|nested|layout|price|first|second|each|every' +
      '|or|in|of|with) )\\btable\\b(?! (?:of contents|element|cell|header|caption|row|head|body)s?)',
    'i',
  ),
];

/** What a lesson says about the run itself: who judges it, how it ends, what it was told. */
export function findControl(text: string, author: Author): Finding[] {
  const isKnown = (words: string) => wordsOf(words).some((word) => author.stems.has(stem(word)));
  return [...findPhrases(text, NEVER), ...findPhrases(text, UNLESS_KNOWN).filter((words) => !isKnown(words))].map(
    (words) => ({ kind: 'control', reason: `speaks of the run, its rules or its results: ${words}` }),
  );
}
