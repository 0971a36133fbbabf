/** Lists over HTTP. */
import { listsHonoured } from "@roster/api"
import {
  Contact,
  ContactList,
  IdempotencyKeyReused,
  ListNotFound,
  ListsService,
  NameTaken,
  checkedMethods
} from "@roster/domain"
import { checkIdempotencyKey, checkPage } from "@roster/domain/internal"
import { Effect, Layer, Schema } from "effect"
import { makeCall } from "../calls/Call.ts"
import { makeAnnouncedRead, makeSaidOnAnswers } from "../calls/ExtensionCall.ts"
import type { ClientOptions } from "../calls/ClientOptions.ts"
import { readJson, readNothing } from "../calls/ResponseDecoding.ts"
import { RosterHttpApi } from "../calls/RosterHttpApi.ts"
import { inRule, makeSent } from "./SentFilter.ts"
import { inPath } from "./UrlValue.ts"

const readOne = readJson(ContactList)
const readLists = readJson(Schema.Array(ContactList))
const readContacts = readJson(Schema.Array(Contact))

/**
 * Makes the service on a shared client.
 * @internal
 */
export const make = Effect.gen(function* () {
  const shared = yield* RosterHttpApi
  const { api, fn, said } = shared
  const areListsHonoured = said(listsHonoured)
  const call = makeCall(shared)
  const { filterToSend } = makeSent(makeSaidOnAnswers(call, api)(() => areListsHonoured.current, false))
  const readWith = makeAnnouncedRead(areListsHonoured)
  const absent = (name: string) => new ListNotFound({ name })
  const notFound = (name: string) => ({ 404: () => absent(name) })

  return checkedMethods(ListsService, {
    list: fn("ListsService.list")(function* (page = {}) {
      yield* checkPage(page)
      const { counts = false, limit, offset } = page
      return yield* readWith(counts, (counts) =>
        call({ ...api.listsGet({ query: { limit, offset, counts } }), read: readLists, refusals: ["InvalidInput"] })
      )
    }),
    get: fn("ListsService.get")(function* (name) {
      yield* inPath("list", name)
      return yield* call({
        ...api.listsByNameGet({ params: { name } }),
        about: name,
        read: readOne,
        refusals: ["ListNotFound", "InvalidInput"],
        byStatus: notFound(name)
      })
    }),
    create: fn("ListsService.create")(function* (list, { idempotencyKey } = {}) {
      yield* checkIdempotencyKey(idempotencyKey)
      return yield* call({
        ...api.listsPost({ payload: list }),
        idempotencyKey,
        read: readOne,
        refusals: ["NameTaken", "IdempotencyKeyReused", "InvalidInput"],
        byStatus: {
          409: () =>
            idempotencyKey === undefined
              ? new NameTaken({ name: list.listName, isOfList: true })
              : new IdempotencyKeyReused({})
        }
      })
    }),
    update: fn("ListsService.update")(function* (name, changes) {
      yield* inPath("list", name)
      return yield* call({
        ...api.listsByNamePut({ params: { name }, payload: changes }),
        about: name,
        read: readOne,
        refusals: ["ListNotFound", "NameTaken", "InvalidInput"],
        byStatus: {
          404: (): ListNotFound | NameTaken => absent(name),
          409: () => new NameTaken({ name: changes.newListName ?? name, isOfList: true })
        }
      })
    }),
    delete: fn("ListsService.delete")(function* (name) {
      yield* inPath("list", name)
      return yield* call({
        ...api.listsByNameDelete({ params: { name } }),
        about: name,
        goneAfterAmbiguous: Effect.void,
        read: readNothing,
        refusals: ["ListNotFound", "InvalidInput"],
        byStatus: notFound(name)
      })
    }),
    contacts: fn("ListsService.contacts")(function* (name, { limit, lists = false, offset } = {}) {
      yield* inPath("list", name)
      yield* checkPage({ limit, offset })
      return yield* readWith(lists, (lists) =>
        call({
          ...api.listsByListnameContactsGet({ params: { name }, query: { limit, offset, lists } }),
          about: name,
          read: readContacts,
          refusals: ["ListNotFound", "InvalidInput"],
          byStatus: notFound(name)
        })
      )
    }),
    add: fn("ListsService.add")(function* (name, filter) {
      yield* inPath("list", name)
      return yield* call({
        ...api.listsByNameContactsPost({ params: { name }, payload: yield* filterToSend(filter) }),
        about: name,
        read: readOne,
        refusals: ["ListNotFound", "InvalidRule", "InvalidInput"],
        byStatus: notFound(name)
      }).pipe(inRule(filter._tag === "ByRule" ? filter.rule : undefined))
    }),
    remove: fn("ListsService.remove")(function* (name, filter) {
      yield* inPath("list", name)
      return yield* call({
        ...api.listsByNameContactsRemovePost({ params: { name }, payload: yield* filterToSend(filter) }),
        about: name,
        read: readNothing,
        refusals: ["ListNotFound", "InvalidRule", "InvalidInput"],
        byStatus: notFound(name)
      }).pipe(inRule(filter._tag === "ByRule" ? filter.rule : undefined))
    })
  })
})

/** The service on a new client. */
export const layer = (options: ClientOptions) =>
  Layer.effect(ListsService, make).pipe(Layer.provide(RosterHttpApi.layer(options)))
