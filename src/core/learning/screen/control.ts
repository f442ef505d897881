import type { Author } from './author.ts';
import type { Finding } from './finding.ts';
import { stem, wordsOf } from './words.ts';

const ORDERS =
  '(?:instruction|rule|step|prompt|guideline|guidance|direction|directive|order|polic(?:y|ie)|constraint|restriction|limit)s?';

/** What a lesson never speaks of, whatever the author's Steps say. */
const NEVER: readonly RegExp[] = [
  /\bnight ?shift\b|\.nightshift\b|\b(?:manager\.md|table\.csv|lessons\.json)/i,
  /\b(?:system|developer|hidden|initial|original|your|this|the) (?:prompt|message|instructions?)\b|\bprompts?\b/i,
  /\b(?:disregard|circumvent|bypass|jail ?break|overrul\w*|supersed\w*)\b/i,
  /(?<!\b(?:not|never|don't|dont) )\bforget\b/i,
  new RegExp(
    `\\b(?:ignor\\w*|override\\w*|replac\\w*|break|violate|change|unlearn)\\b[^.;!?]{0,40}\\b${ORDERS}\\b`,
    'i',
  ),
  /\bignor\w* (?:all|everything|anything|what|whatever|the above|above|previous|prior|earlier|that|this|it|them|any|other|every)\b/i,
  new RegExp(
    `\\b(?:previous|earlier|prior|preceding|foregoing|former|old|new|other|further|additional|original|initial) (?:\\w+ )?(?:${ORDERS}|messages?|lessons?)\\b`,
    'i',
  ),
  new RegExp(
    `\\b(?:(?:the|what|everything|anything|all|that)(?: (?:is|was|stands?|stood|said|written|told|text|${ORDERS}))?|${ORDERS}) (?:above|earlier|previously)(?! (?:it|the|this|that|them|a|an|each|every)\\b)`,
    'i',
  ),
  /\bwhat(?:ever)? (?:you|it|he|she|they|the \w+|\w+)(?: \w+){0,4} (?:say|says|said|tells?|told|asks?|asked|wants?|demands?|requests?|orders?|means?)\b/i,
  /\byou (?:were|are|have been|had been) (?:told|given|now|asked|instructed|allowed|free|permitted)\b|\bact as\b|\bpretend\b|\brole ?play/i,
  /\b(?:obey|comply|compliance)\b|\bfollow(?:s|ing)? (?:the|any|all|every|each|its|their|those|these) (?:\w+ )?(?:instructions?|orders?|commands?|directions?|requests?|comments?|links?)\b/i,
  /\b(?:qa|q\.a\.|quality assurance|verdicts?|reviewers?|graders?|judges?|evaluators?|auditors?|supervisors?|overseers?|orchestrators?)\b/i,
  /\b(?:assistants?|chat ?bots?|language models?|llms?|a\.?i\.? (?:agent|model|system)s?)\b/i,
  /\b(?:mark|set|flag|record|count|treat|declare|consider|report|label|leave|put|call|take|rate)\w*\b[^.;!?]{0,60}\b(?:as |to |is |was )?(?:done|passed|passing|complete(?:d)?|finished|successful|success|succeeded|approved|excellent|in_progress|todo)\b/i,
  /\breport(?:s|ed|ing)? (?:success|failure|done|nothing|only|that|it|as|this)\b|\b(?:your|own|final|dev|the dev's|agent's) reports?\b/i,
  /\b(?:your|own|item'?s?|row'?s?|task'?s?|its|the final) status\b|\bstatus(?:es)? of (?:the|this|an?|every|each|all)? ?(?:item|row|task|run)s?\b|\bstatus (?:to|is|as|=) (?:done|passed|failed|todo)\b/i,
  /\b(?:other|remaining|next|previous|following|later|all|every|earlier) (?:rows?|items?|runs?|batch(?:es)?|sessions?|attempts?|agents?|devs?|tasks?)\b/i,
  /\b(?:operators?|administrators?|admins?|authors?|owners?|managers?|humans?|persons?|people|users?|developers?|boss)\b[^.;!?]{0,30}\b(?:approved?|allow(?:s|ed)?|permit(?:s|ted)?|wants?|says?|said|asked|ordered?|authori[sz]ed?|agreed|confirmed)\b/i,
  /\b(?:stands? for|is short for|code ?words?|secretly|secret meaning|real meaning|actually means)\b|\bwhen(?:ever)? (?:you )?(?:see|read|hear) the word\b/i,
  /\b(?:combine|concatenate|join|append|read)\b[^.;!?]{0,40}\b(?:steps?|lessons?|letters?|words? of)\b|\bbackwards?\b|\bin reverse\b(?! (?:order|chronological))|\bdecod\w+|\bdecipher\w*|\brot ?13\b/i,
  /\bthis (?:sentence|lesson|line of text|advice|hint|rule|note|recommendation)\b|\bword for word\b/i,
  /\b(?:your|final) (?:answer|response|reply|output|work|summary)\b|(?:^|[.;:!?]\s*)(?:always )?answer (?:with|that|only|by|in)\b/i,
  /(?:^|[.,;:!?\n]\s*|\b(?:and|then|also|to|must|should|always|please|just|simply)\s+)(?:say|claim|state|declare|insist|confirm|tell \w+|swear|certify) (?:that|it|everything|all)\b/i,
  /\b(?:checkers?|inspectors?|whoever|(?:who|that) (?:checks?|judges?|reviews?|grades?) (?:this|it|your|the work)|green light|quality control|validators?|(?:all|everything) (?:is|was) (?:well|fine|ok|okay))\b/i,
  /\b(?:operators?|in charge|superiors?|from (?:here|now) on|(?:before|above) this|somebody else|someone else|permission|cancell?ed|this (?:job|task|shift|run|session)|(?:first|second|third|last|whole) (?:job|task))\b/i,
];

/** What a lesson speaks of only if the author's Steps do. */
const UNLESS_KNOWN: readonly RegExp[] = [
  /(?<!\b(?:form|input|schema|field|client|server|json|type|data|html|e-?mail|side|built-in)[ -])\bvalidations?\b(?! (?:error|message|librar|attribute|schema|function)s?)/i,
  /\bcriteri(?:on|a)\b/i,
  /\binstructions?\b/i,
  /\brecommend(?:s|ed|ing|ations?)?\b/i,
  /\blessons?\b/i,
  /(?<!\b(?:html|markdown|database|db|lookup|hash|pivot|sql|data|an?|wide|nested|layout|price|first|second|each|every|or|in|of|with) )\btables?\b(?! (?:of contents|element|cell|header|caption|row|head|body)s?)/i,
];

/** What a lesson says about the run itself: who judges it, how it ends, what it was told. */
export function findControl(text: string, author: Author): Finding[] {
  const found = [
    ...NEVER.map((pattern) => pattern.exec(text)?.[0]),
    ...UNLESS_KNOWN.map((pattern) => pattern.exec(text)?.[0]).filter(
      (words) => words !== undefined && !wordsOf(words).some((word) => author.stems.has(stem(word))),
    ),
  ];
  return found
    .filter((words) => words !== undefined)
    .map((words) => ({ kind: 'control', reason: `speaks of the run, its rules or its results: ${words.trim()}` }));
}
