import { compare } from '../../text/likeness.ts';
import type { Author } from './author.ts';
import type { Finding } from './finding.ts';
import { contentStems, isFunctionWord, stem } from './words.ts';

/** What makes sure that the work is right. */
const GUARDS =
  '(?:tests?|testing|checks?|checking|assertions?|specs?|steps?|lint(?:er|ing)?|build|compil\\w+|verif\\w+|validat\\w+|reviews?|reviewing|suites?|proofs?|coverage|type ?check\\w*)';
const FILLERS =
  '(?:(?:the|all|any|every|each|some|those|these|this|your|its|failing|slow|remaining|last|first|next|following|other|broken|flaky|long|two|three|existing|of|that|which|fail\\w*|step)\\s+){0,4}';
const SMALL =
  '(?:optional|unnecessary|redundant|superfluous|pointless|needless|useless|irrelevant|enough|not (?:strictly |really |always )?(?:necessary|needed|required|important|mandatory)|a waste of time|waste time)';

const WEAKENING: readonly RegExp[] = [
  new RegExp(
    `\\b(?:skip|omit|leav(?:e|ing) out|bypass|disable|turn(?:ing)? off|switch off|comment(?:ing)? out|mute|silenc|suppress|ignor|neglect|defer|postpon|avoid|drop|shorten|relax|weaken|loosen|exclude?|cut)\\w*\\s+${FILLERS}(?:${GUARDS}|warnings?|errors?|failures?|exceptions?)\\b`,
    'i',
  ),
  new RegExp(`\\b(?:delete|remove)\\s+${FILLERS}${GUARDS}\\b`, 'i'),
  new RegExp(
    `\\b${GUARDS}\\b[^.;!?]{0,60}\\b(?:skipped|omitted|left out|bypassed|disabled|turned off|commented out|ignored|dropped|removed|deleted|deferred|neglected)\\b`,
    'i',
  ),
  new RegExp(
    `\\b${GUARDS}\\b[^.;!?]{0,60}\\b(?:${SMALL}|(?:do|does|don't|doesn't|did)(?: not)? (?:matter|count|apply))\\b`,
    'i',
  ),
  /\b(?:only|just|merely)\b[^.;!?]{0,30}\bsteps?\b|\bsteps?\b[^.;!?]{0,40}\b(?:only|just|instead|can wait)\b/i,
  /\b(?:instead of|rather than|in place of|replac\w+|without|skip\w*|omit\w*|before reaching|no|not|never|don't|ignore) (?:\w+ ){0,2}steps?\b/i,
  /\bstop(?:s|ping)? (?:after|here|at|early|as soon|immediately|once|when|if|right|before|working|now)\b|\b(?:and|then) stop\b/i,
  /\b(?:finish|end|return|exit|quit|abort|give up|leave|be done)\b[^.;!?]{0,20}\b(?:at once|early|immediately|right away|straight away|here|as soon as)\b|\bgive up\b/i,
  /(?<!\b(?:not|never|don't) )\b(?:mak(?:e|ing) up|invent|fabricat|fak(?:e|ing) (?:a|an|the|any)\b|falsif)\w*/i,
  /\bassum\w*\b[^.;!?]{0,40}\b(?:pass\w*|works?|fine|ok|okay|correct|succe\w+|right|done)\b/i,
  /\b(?:eslint-disable|ts-ignore|ts-nocheck|ts-expect-error|noqa|nolint|no-verify|no cover|istanbul|xdescribe|xit)\w*|\b(?:test|it|describe|suite)\.(?:skip|only|todo|fails?)\b|(?<!\w)\.(?:skip|only)\b/i,
  new RegExp(
    `\\b${GUARDS.replace('steps?|', '')} (?:\\w+ )?(?:is|are) (?:a )?(?:slow|expensive|waste|pointless|useless)\\b`,
    'i',
  ),
  /\b(?:takes? too long|too slow|(?:to )?saves? time|time is short|hurry|waste of|quick(?:er)? (?:look|glance)|glanc\w+|skim\w*|left alone|half-?hearted\w*|superficial\w*|good enough|(?:no longer|not|rarely|hardly|never) (?:appl(?:y|ies)|matters?|bother\w*)|for show|another day|go wrong|don't (?:worry|bother))\b/i,
  /\b(?:change|adjust|lower|adapt|loosen|relax|edit|update|set|rewrite|weaken)\w*\b[^.;!?]{0,30}\bexpect(?:s|ed|ations?)?\b|\b(?:nothing|none|never|not|no test) (?:can |may |will )?(?:ever )?fails?\b/i,
  /\b(?:turn|switch|set)\w*\b[^.;!?]{0,30}\b(?:strict\w*|check\w*|rules?|warn\w*|tests?|typ(?:e|ing)s?|safe\w*|security|auth\w*|tls|ssl|certificat\w*)\b[^.;!?]{0,20}\b(?:off|false|0)\b|\bturn off strict|\bcast\w* (?:\w+ )?to any\b|\bas any\b|\bno-?emit-?on-?error\b/i,
  /\bskip\w*check\w*/i,
  /\b(?:placeholder|dummy|empty|hard-?coded) (?:tests?|assertions?|checks?)\b|\balways (?:pass|true|succeed)\w*/i,
];

const NEGATION =
  /\b(?:do not|don't|dont|never|must not|mustn't|should not|shouldn't|need not|needn't|cannot|can't|no longer|not (?:necessary|needed|required) to|unnecessary to|no need to|no reason to|not have to|not need to|without|avoid|instead of|rather than|stop|refrain from|skip|omit)\s+(?:ever |always |really |also |even |to )?([\p{L}'-]+)([^.;:!?\n]*)/giu;

/** Verbs that make sure of something. */
const GUARDING = new Set(
  'test check verify validate review lint compile confirm inspect prove double-check'.split(' ').map(stem),
);
const DOING = new Set(
  'run execute perform do repeat start fix write wait read finish complete follow look'.split(' ').map(stem),
);
const THOROUGH = new RegExp(
  `\\b(?:${GUARDS}|whole|entire|full|original|everything|rest|warnings?|errors?|failures?)\\b`,
  'i',
);

/** A lesson adds to the author's Steps; it takes nothing away from them. */
export function findWeakening(text: string, author: Author): Finding[] {
  const phrases = WEAKENING.map((pattern) => pattern.exec(text)?.[0]).filter((words) => words !== undefined);
  const negated = [...text.matchAll(NEGATION)].flatMap(([whole, verb, rest]) => {
    const step = weakenedStep(stem(verb!), rest!, author);
    if (step !== undefined) return [`could take away from step ${step} of the author: ${whole}`];
    const action = stem(verb!);
    return GUARDING.has(action) || (DOING.has(action) && THOROUGH.test(rest!)) ? [`could weaken a step: ${whole}`] : [];
  });
  const contrary = author.texts.findIndex((step) => compare(step, text) === 'contrary');
  return [
    ...phrases.map((words) => `could weaken a step: ${words.trim()}`),
    ...negated,
    ...(contrary < 0 ? [] : [`contradicts step ${contrary + 1} of the author`]),
  ].map((reason) => ({ kind: 'weakens', reason }));
}

/** The step whose verb, with one more of its words, follows a negation. */
function weakenedStep(action: string, rest: string, { sentences }: Author): number | undefined {
  const others = contentStems(rest);
  return sentences.find(
    ({ actions, content }) =>
      actions.has(action) && !isFunctionWord(action) && others.some((word) => word !== action && content.has(word)),
  )?.step;
}
