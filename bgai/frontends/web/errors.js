// What can go wrong when the page asks its engine. Knows neither the page nor the engines.

/** What is asked for cannot be reached now; it may be asked again. */
export class Offline extends Error {}
/** The dice of this game were promised under a key that is gone. */
export class OtherKey extends Error {}
/** The engine will not do this; the message says why. */
export class Refused extends Error {}
