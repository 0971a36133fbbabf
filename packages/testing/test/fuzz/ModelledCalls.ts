/** Calls whose answer the model knows: every operation, by keys that may call it and by keys that may not. */
import { type Drawn, makeAskers, type World } from "./Askers.ts"
import { makeContactCalls } from "./ContactCalls.ts"
import { makeCredentialCalls } from "./CredentialCalls.ts"
import type { Dice } from "./Dice.ts"

export const makeCalls = (world: World, dice: Dice) => {
  const askers = makeAskers(world, dice)
  const contacts = makeContactCalls(world, dice, askers)
  const { create, list, load, remove, update } = makeCredentialCalls(world, dice, askers)

  const calls: ReadonlyArray<readonly [number, () => Drawn]> = [
    [10, contacts.getContact],
    [8, contacts.putContact],
    [7, contacts.deleteContact],
    [12, contacts.postContacts],
    [6, contacts.listContacts],
    [3, contacts.countContacts],
    [2, contacts.fieldsInUse],
    [3, contacts.lookUp],
    [2, contacts.deleteAddresses],
    [1, contacts.deleteByRule],
    [1, contacts.exportContacts],
    [2, contacts.exportStatus],
    [1, contacts.importContacts],
    [2, contacts.send],
    [3, contacts.contactsOn],
    [4, contacts.placeOn],
    [3, contacts.beginRun],
    [1, contacts.endRun],
    [3, contacts.getRun],
    [6, create("apiKeys")],
    [5, update("apiKeys")],
    [4, remove("apiKeys")],
    [3, load("apiKeys")],
    [2, list("apiKeys")],
    [3, create("smtp")],
    [3, update("smtp")],
    [3, remove("smtp")],
    [2, load("smtp")],
    [2, list("smtp")]
  ]

  /** Those that take effect at one moment, by keys that none of them changes. */
  const atOnce: ReadonlyArray<readonly [number, () => Drawn]> = [
    [5, contacts.getContact],
    [6, contacts.putContact],
    [6, contacts.deleteContact],
    [8, contacts.postContacts],
    [3, contacts.countContacts],
    [2, contacts.lookUp],
    [2, contacts.deleteAddresses],
    [2, contacts.placeOn],
    [2, create("smtp")],
    [2, update("smtp")],
    [2, remove("smtp")],
    [1, load("smtp")]
  ]

  return {
    next: () => dice.weighted(calls)()(),
    /** Calls to be made at once. */
    some: () => askers.meetingOn(() => Array.from({ length: 2 + dice.below(3) }, () => dice.weighted(atOnce)())),
    right: askers.right
  }
}
