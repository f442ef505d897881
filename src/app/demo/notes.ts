/** The notes of the demo, in the order of its table. Each begins with a title line, except the one below. */
export interface Note {
  readonly name: string;
  readonly about: string;
  readonly text: string;
}

/** Only a reminder without a title line, so no page can be made of it. */
export const UNFINISHED = { name: 'nightjar', title: 'Nightjar' };

/** Has Windows line ends, which the task repairs first. */
const SAVED_ON_WINDOWS = 'hedgehog';

const ANIMALS = {
  'barn-owl': `# Barn owl

A barn owl hunts by ear. One ear sits a little higher than the other, so a rustle in the grass sounds different in
each, and from the difference the owl knows *where* it was: left or right, near or far.

Its feathers end in a soft fringe. A vole hears nothing until it is too late to hear anything.
`,
  fox: `# Fox

The town fox keeps a timetable. It comes down the alley after the last bus, looks under the bench where people eat
their chips, and is back behind the railway sheds before the bakery opens its door.

In January it barks. Those who do not know the sound call the police.
`,
  'glow-worm': `# Glow-worm

Not a worm but a beetle, and the light is an invitation. The female has no wings; she climbs a blade of grass, turns
her lamp towards the sky and waits. The male has wings and large eyes, and no need to be told twice.

The light is cold: one can hold it in the hand, and read a line of print by it.
`,
  hedgehog: `# Hedgehog

A hedgehog walks a mile or two in a night, which is a long way on legs that short. It needs gaps under fences more
than it needs bowls of food: a hole as wide as a hand is enough.

Milk is a kindness that makes it ill. Water is better.
`,
  moth: `# Moth

Moths do not love the lamp. One explanation: they keep their back towards the brightest part of the world, which for
millions of years was the sky. Next to a lamp that rule sends them round and round.

Switch it off for ten minutes, and they find their way.
`,
  nightingale: `# Nightingale

It sings at night because the night is quiet. Most of those who sing on after midnight are males that have not found
a mate yet, with two hundred phrases and more, hardly ever in the same order.

In loud cities they sing louder. On Sunday mornings, with fewer cars about, they turn themselves down.
`,
  nightjar: `Ask Ida whether we may use her recordings, then write this one.
`,
  pipistrelle: `# Pipistrelle

The smallest bat here weighs about as much as a sheet of paper and eats its way through hundreds of midges before
breakfast. It shouts all the time, too high for us, and listens to what comes back.

*Common* and *soprano* pipistrelles look the same. For a long time nobody knew that they were two; then somebody
listened to the pitch: about 45 against about 55 kilohertz.
`,
};

const SKY = {
  aurora: `# Aurora

Particles from the sun come down along the lines of the earth's magnetic field and make the thin air shine, a hundred
kilometres up and more. Green is oxygen. Red is oxygen too, but higher, where an atom has time to wait.

A photograph shows more colour than the eye: at night we see mostly grey.
`,
  meteors: `# Meteors

What burns up there is a grain, seldom larger than a pea. It is fast enough to make the air around it glow, and that
glow is what we see.

Best after midnight: then our side of the earth faces forward & runs into the grains, like the windscreen of a car
in the rain.
`,
  'milky-way': `# Milky Way

We live inside a disc of stars and look at it edge on: that is the whole secret of the pale band. The dark lanes in it
are not gaps but dust in the way.

Most people now live under a sky too bright to see it. An hour's drive gives it back.
`,
  moon: `# Moon

The moon turns once while it goes round us once, so that we always see the same side. The far side was first seen in
1959, in a few poor photographs taken by a space probe.

It leaves us by almost four centimetres a year. There is no hurry.
`,
  'night-clouds': `# Night clouds

On a few evenings around midsummer, long after sunset, thin silver ripples stand in the north. They are ice, some
eighty kilometres up: so high that the sun, below our horizon, still reaches them.

They are called *noctilucent*, which is only the Latin for what they do.
`,
  orion: `# Orion

Three stars in a row, and everybody finds them. Follow the belt down to the left and you come to Sirius; follow it up
to the right and you come to Aldebaran, the eye of the bull.

The reddish shoulder is Betelgeuse. It will explode: tonight, or within the next 100,000 years or so.
`,
  'pole-star': `# Pole star

It is not bright. It is only where the axis of the earth happens to point, so that all others go round it.

This is a post held for a time. The axis sways like that of a top, once in 26,000 years; when the pyramids were built,
another star had the place.
`,
  venus: `# Venus

The evening star and the morning star are one and the same planet, and it took people a while to believe it. It is
never seen at midnight: its way round the sun lies inside of ours, so it stays near the sun.

More than one control tower is said to have given it clearance to land.
`,
};

const WORK = {
  bakery: `# Bakery

The first light in the street, at half past two. Dough can't be hurried and bread can't be late, so the baker gets up
instead.

By five it smells as far as the crossing. By six the first customers come, mostly those who are on their way home.
`,
  ferry: `# Night ferry

At eleven the ramp goes up; for seven hours there is nothing to do and nowhere to go. Lorry drivers sleep at once.
Children do not sleep at all.

On the bridge two people watch a dark window in turns. The rule is simple: *if in doubt, call the captain.*
`,
  'fog-signal': `# Fog signal

A light is of no use in fog, so there was a horn as well: each with its own rhythm, one long and two short, three long,
so that a ship could tell by ear which rock it was about to meet.

Satellites do this now. The last horns are kept by volunteers who like to be loud once a month.
`,
  lighthouse: `# Lighthouse

The lamp was never very strong. The trick is the lens, rings of glass that bend all the light into one flat beam: a
flame behind it could be seen 30 kilometres away.

The keeper wound up the clockwork every few hours and trimmed the wick. Now a sensor switches an LED, and the keeper's
house is let by the week.
`,
  newspaper: `# Newspaper

The pages close at eleven, the press starts at midnight, the vans leave at two. Whoever has news at a quarter to one
has news for the day after tomorrow, or for the net.

The reader sees none of it. He sees that the paper is wet.
`,
  'night-train': `# Night train

One falls asleep in one language and wakes up in another. In between are hours of being shunted, the clank of couplings
& a voice on an empty platform that says something about the rear coaches.

The slow part is on purpose: nobody wants to arrive at four.
`,
  observatory: `# Observatory

Nobody looks through the telescope. Somebody sits in a warm room far away, watches the clouds on one screen and a list
of targets on another, and lets the dome turn.

The list is longer than the night. What could not be done today is done tomorrow, in the order of the list.
`,
  'street-lamp': `# Street lamp

Once a man came round with a ladder at dusk and again at dawn. Then it was a switch, a clock, a sensor; now each lamp
has an address and reports its own faults.

Many of them shine more into the sky than on the street. A lid of tin would do.
`,
};

export const NOTES: readonly Note[] = Object.entries({ animals: ANIMALS, sky: SKY, work: WORK }).flatMap(
  ([about, notes]) =>
    Object.entries(notes).map(([name, text]) => ({
      name,
      about,
      text: name === SAVED_ON_WINDOWS ? text.replaceAll('\n', '\r\n') : text,
    })),
);
