/** Why a service takes no writes of a run, which the interface writes and reads as a text. */

/** Why a run takes no writes, in the words of its message. */
export const runRefusals = {
  Unknown: "there is none of this id. Begin a run, and name it",
  Ended: "it has ended. Begin another one",
  OfAnotherKey: "another key began it, and only that key, or the one that a rotation put in its place, writes in it",
  TooLarge: "its record would be larger than the runs of an account may be. End it, and do the rest in another one"
} as const
