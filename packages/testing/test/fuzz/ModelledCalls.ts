/** Calls whose answer the model knows: every operation, by keys that may call it and by keys that may not. */
import { type Call, makeAskers, type World } from "./Askers.ts"
import { makeContactCalls } from "./ContactCalls.ts"
import { makeCredentialCalls } from "./CredentialCalls.ts"
import type { Dice } from "./Dice.ts"

export const makeCalls = (world: World, dice: Dice) => {
  const askers = makeAskers(world, dice)
  const contacts = makeContactCalls(world, dice, askers)
  const { create, list, load, remove, update } = makeCredentialCalls(world, dice, askers)

  /** A call, of which nothing is left but the refusal if the key may not make it. */
  const made = (call: Call): Call => {
    const { asker, operation, sent } = call
    return asker.refusal === undefined ? call : { operation, sent, asker, status: asker.refusal }
  }
  const calls: ReadonlyArray<readonly [number, () => Call]> = [
    [10, contacts.getContact],
    [8, contacts.putContact],
    [7, contacts.deleteContact],
    [12, contacts.postContacts],
    [6, contacts.listContacts],
    [3, contacts.countContacts],
    [2, contacts.fieldsInUse],
    [3, contacts.lookUp],
    [3, contacts.deleteMany],
    [1, contacts.exportContacts],
    [2, contacts.exportStatus],
    [1, contacts.importContacts],
    [2, contacts.send],
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

  return { next: () => made(dice.weighted(calls)()), right: askers.right }
}
