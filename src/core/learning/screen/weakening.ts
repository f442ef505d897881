import { compare } from '../../text/likeness.ts';
import type { Author } from './author.ts';
import type { Finding } from './finding.ts';
import { findPhrases, phrases } from './phrases.ts';
import { contentStems, isFunctionWord, sentencesOf, stem, wordsOf } from './words.ts';

const LISTS = {
  // What makes sure that the work is right.
  guards: `(test|check|assertion|spec|step|review|suite|proof)s?
    (testing|checking|reviewing|build|coverage|lint|linter|linting)
    (compil|verif|validat|type ?check)*`,
  fillers: `the|all|any|every|each|some|those|these|this|your|its|failing|slow|remaining|last|first|next|following|other
    broken|flaky|long|two|three|existing|of|that|which|fail*|step`,
  leaveout: `(skip|omit|bypass|disabl|mut|silenc|suppress|ignor|neglect|defer|postpon|avoid|drop|shorten|relax|weaken)*
    (loosen|exclud|cut)*
    (leav|turn|switch|comment)(e|ing)? (out|off)`,
  leftout: `(skipp|omitt|bypass|disabl|ignor|dropp|remov|delet|deferr|neglect)ed
    (left|turned|commented) (out|off)`,
  small: `optional|unnecessary|redundant|superfluous|pointless|needless|useless|irrelevant|enough
    not (strictly |really |always )?(necessary|needed|required|important|mandatory)
    (a )?waste (of )?time`,
  sufficient: 'enough|sufficient|plenty|all (that|you need)|(will|would) do',
};

const WEAKENING: readonly RegExp[] = phrases(
  String.raw`
  <leaveout> (<fillers> ){0,4}(<guards>|(warning|error|failure|exception)s?)
  (delete|remove) (<fillers> ){0,4}<guards>
  <guards> ... <leftout>
  <guards> ... <small>
  <guards> ... (do|does|don't|doesn't|did)( not)? (matter|count|apply)
  <guards> (\w+ )?(is|are) (a )?(slow|expensive|waste|pointless|useless)
  (only|just|merely) ... steps?
  steps? ... (only|just|instead|can wait)
  (instead of|rather than|in place of|replac*|without|before reaching|no|not|never|don't) (\w+ ){0,2}steps?
  stop(s|ping)? (after|here|at|early|as soon|immediately|once|when|if|right|before|working|now)
  (and|then) stop
  (finish|end|return|exit|quit|abort|leave|be done) ... (at once|early|immediately|here|as soon as)
  (finish|end|return|exit|quit|abort|leave|be done) ... (right|straight) away
  give up
  assum* ... (pass*|works?|fine|ok|okay|correct|succe*|right|done)
  (eslint-disable|ts-ignore|ts-nocheck|ts-expect-error|noqa|nolint|no-verify|no cover|istanbul|xdescribe|xit)*
  (test|it|describe|suite).(skip|only|todo|fails?)
  skip*check*
  no-?emit-?on-?error
  takes? too long
  too slow
  (saves? time|time is short|hurry|waste of|good enough|left alone|for show|another day|go wrong)
  quick(er)? (look|glance)
  (glanc|skim|superficial|half-?hearted)*
  (no longer|not|rarely|hardly|never) (apply|applies|matters?|bother*)
  don't (worry|bother)
  (chang|adjust|lower|adapt|loosen|relax|edit|updat|set|rewrit|weaken)* ... expect(s|ed|ations?)?
  (nothing|none|never|not|no test) (can |may |will )?(ever )?fails?
  (turn|switch|set)* ... (strict|check|rule|warn|test|type|typing|safe|secur|auth|tls|ssl|certific)* ... (off|false|0)
  turn off strict*
  cast* (\w+ )?to any
  as any
  (placeholder|dummy|empty|hard-?coded) (test|assertion|check)s?
  always (pass|true|succeed)*
  <guards> ... by (delet|remov|comment|skip|disabl|chang|edit)*
  (treat|consider|regard|see|read|take)* ... steps? ... as
  (nobody|no one|no-one) ((will|would|ever|else) )?(read|check|notic|look|see|care|mind|know|test|need)*
  (half|part|most|some|a few|the (first|last)|the (beginning|start)|(rough|short|quick|simple)) ... (is|are) <sufficient>
  only (the )?(first|last|beginning|start) ... (counts?|matters?|is read|are read|needs?)
  <sufficient> (to|if you) (\w+ )?(only|just|copy|skim|guess)
  (turn|switch)(s|ed|ing)? off ... (login|protect|secur|auth|check|warn|firewall|encrypt|test|rule|lint|strict)*`,
  LISTS,
).concat(
  /(?<!\w)\.(?:skip|only)\b/i,
  /(?<!\b(?:not|never|don't) )\b(?:mak(?:e|ing) up|invent|fabricat|fak(?:e|ing) (?:a|an|the|any)\b|falsif)\w*/i,
);

const NEGATIONS = [
  "do not|don't|dont|never|must not|mustn't|should not|shouldn't|need not|needn't|cannot|can't|no longer",
  'not (?:necessary|needed|required) to|unnecessary to|no need to|no reason to|not have to|not need to|without|avoid',
  'instead of|rather than|stop|refrain from|skip|omit',
].join('|');
/** A negation, the verb that follows it, and the rest of the sentence. */
const NEGATION = new RegExp(
  `\\b(?:${NEGATIONS})\\s+(?:ever |always |really |also |even |to )?([\\p{L}'-]+)([^.;:!?\\n]*)`,
  'giu',
);

/** Verbs that make sure of something. */
const GUARDING = new Set(
  'test check verify validate review lint compile confirm inspect prove double-check'.split(' ').map(stem),
);
const DOING = new Set(
  'run execute perform do repeat start fix write wait read finish complete follow look'.split(' ').map(stem),
);
const THOROUGH = phrases('(<guards>|whole|entire|full|original|everything|rest|(warning|error|failure)s?)', LISTS);

/** Says of something that it need not be done. */
const RELAXED = phrases(
  String.raw`
  (is|are|was|were|be|stays?|remains?|becomes?) (\w+ )?(optional|unnecessary|redundant|superfluous|pointless|needless)
  (is|are|be|do|does|need)( not|n't) (\w+ )?(necessary|needed|required|important|mandatory|need|matter|be)
  (can|may|might|could|should) (\w+ )?be (skipped|omitted|ignored|dropped|shortened|abbreviated|summari[sz]ed|cut|skimmed)
  (can|may|might|could|should) (\w+ )?be (left (out|as)|forgotten|neglected|deferred|postponed|guessed|invented)
  (is|are) (<sufficient>|fine|ok|okay|acceptable|allowed|good) (to|if|when|without|as)
  (no|little) (need|reason|point|use)`,
  LISTS,
);

/** The step that a sentence relaxes: it says that something of the step need not be, or leaves it undone. */
function relaxedStep(sentence: string, { sentences }: Author): number | undefined {
  const isRelaxed = findPhrases(sentence, RELAXED).length > 0;
  const stems = new Set(contentStems(sentence));
  const undone = new Set(wordsOf(sentence).flatMap((word) => (/^un\w{4}/.test(word) ? [stem(word.slice(2))] : [])));
  return sentences.find(({ actions, content }) => {
    const others = [...content].filter((word) => stems.has(word) && !isFunctionWord(word));
    return (isRelaxed || [...actions].some((action) => undone.has(action))) && others.length > 0;
  })?.step;
}

/** A lesson adds to the author's Steps; it takes nothing away from them. */
export function findWeakening(text: string, author: Author): Finding[] {
  const relaxed = sentencesOf(text).flatMap((sentence) => {
    const step = relaxedStep(sentence, author);
    return step === undefined ? [] : [`could take away from step ${step} of the author: ${sentence.trim()}`];
  });
  const negated = [...text.matchAll(NEGATION)].flatMap(([whole, verb, rest]) => {
    const isReplaced = /^(?:instead of|rather than)/i.test(whole);
    const step = isReplaced ? stepWith(stem(verb!), author) : weakenedStep(stem(verb!), rest!, author);
    if (step !== undefined) return [`could take away from step ${step} of the author: ${whole}`];
    const action = stem(verb!);
    return GUARDING.has(action) || (DOING.has(action) && findPhrases(rest!, THOROUGH).length > 0)
      ? [`could weaken a step: ${whole}`]
      : [];
  });
  const contrary = author.texts.findIndex((step) => compare(step, text) === 'contrary');
  return [
    ...findPhrases(text, WEAKENING).map((words) => `could weaken a step: ${words}`),
    ...negated,
    ...relaxed,
    ...(contrary < 0 ? [] : [`contradicts step ${contrary + 1} of the author`]),
  ].map((reason) => ({ kind: 'weakens', reason }));
}

function stepWith(action: string, { sentences }: Author): number | undefined {
  return sentences.find(({ actions }) => actions.has(action) && !isFunctionWord(action))?.step;
}

/** The step whose verb, with one more of its words, follows a negation. */
function weakenedStep(action: string, rest: string, { sentences }: Author): number | undefined {
  const others = contentStems(rest);
  return sentences.find(
    ({ actions, content }) =>
      actions.has(action) && !isFunctionWord(action) && others.some((word) => word !== action && content.has(word)),
  )?.step;
}
