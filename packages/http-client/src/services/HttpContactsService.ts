/** Contacts over HTTP. */
import {
  addModeHonoured,
  listsHonoured,
  readsHonoured,
  resubscribeHonoured,
  runsHonoured,
  searchHonoured,
  sortHonoured
} from "@roster/api"
import {
  type AddOptions,
  canonicalEmail,
  Contact,
  ContactCount,
  ContactHistory,
  ContactNotFound,
  type ContactPayload,
  ContactsService,
  type EmailsPayload,
  ExportId,
  ExportLink,
  ExportNotFound,
  ExportStatus,
  FieldsInUse,
  ImportRefused,
  ImportSource,
  InvalidInput,
  makeFieldCount,
  maximumContactsPerAdd,
  Pagination,
  TooManyContacts,
  Rejected,
  ServiceError,
  checkedMethods
} from "@roster/domain"
import {
  checkAddSize,
  checkIdempotencyKey,
  checkLookup,
  checkPage,
  checkPlaces,
  importNotGuarded,
  isSorted,
  PollHint,
  randomId,
  readHistoryPage,
  withoutOwnKey
} from "@roster/domain/internal"
import { Deferred, Effect, Layer, type PlatformError, Schema, Stream } from "effect"
import { HttpClientRequest } from "effect/http"
import { readJson, readList, readNothing, retryAfter } from "../calls/ResponseDecoding.ts"
import { keyUsed, makeCall } from "../calls/Call.ts"
import type { ClientOptions } from "../calls/ClientOptions.ts"
import { makeAnnouncedRead, makeExtensionCall, makeSaidOnAnswers } from "../calls/ExtensionCall.ts"
import { makeChange } from "./ContactChanges.ts"
import { makeAddReach } from "./AddReach.ts"
import { isLeftToService, keptByService, makeConsentGuard } from "./ConsentGuard.ts"
import { downloadExport } from "./ExportDownload.ts"
import { formBody } from "./FormBody.ts"
import { Resubscribe, RosterHttpApi } from "../calls/RosterHttpApi.ts"
import { inRule, makeSent } from "./SentFilter.ts"
import { exceedsQuery, inPath, inQuery, oneInQuery } from "./UrlValue.ts"

const readContact = readJson(Contact)
const readContacts = readJson(Schema.Array(Contact))
const readListOnly = (...answer: Parameters<typeof readList>) => Effect.as(readList(...answer), [])
const readCount = readJson(ContactCount)
const readHistory = readJson(ContactHistory)
const readFields = readJson(FieldsInUse)
const readLink = readJson(ExportLink)
const readStatus = readJson(ExportStatus)

const onlyAdded = "this service lists contacts in the order in which they were added alone"
const onlyByOffset = "this service lists contacts by their offset alone"

/** Whether a rule is too long for an address. */
const isLong = (rule: string | undefined): rule is string => rule !== undefined && exceedsQuery([rule])

/** The contacts whose fields the client counts itself. */
const maximumCountedContacts = 100_000

/** The single reads that stand for one lookup, at one time. */
const getsAtOnce = 8

/**
 * A file to send, which can be sent again until reading begins, or if it is replayable. If reading fails, the request
 * waits and `failed` ends the call, since a transport would report a network error.
 */
const watched = ({ content, name, replayable = false }: Extract<ImportSource, { readonly _tag: "File" }>) => {
  let begun = false
  const failed = Deferred.makeUnsafe<never, PlatformError.PlatformError>()
  const begin = Effect.sync(() => {
    begun = true
  })
  const watchedContent = Stream.concat(Stream.fromEffectDrain(begin), content).pipe(
    Stream.catchCause((cause) =>
      Stream.fromEffectDrain(Effect.andThen(Deferred.failCause(failed, cause), Effect.never))
    )
  )
  return { name, content: watchedContent, canRepeat: () => replayable || !begun, failed: Deferred.await(failed) }
}

/**
 * Makes the service on a shared client.
 * @internal
 */
export const make = Effect.gen(function* () {
  const shared = yield* RosterHttpApi
  const { api, fn, propagateTrace, said, storeId, withKey } = shared
  const call = makeCall(shared)
  const areListsHonoured = said(listsHonoured)
  const isResubscribeHonoured = said(resubscribeHonoured)
  const isSearchHonoured = said(searchHonoured)
  const isAddModeHonoured = said(addModeHonoured)
  const areOrdersHonoured = said(sortHonoured)
  const readWith = makeAnnouncedRead(areListsHonoured)
  const saidOnAnswers = makeSaidOnAnswers(call, api)
  const knowsLists = saidOnAnswers(() => areListsHonoured.current, false)
  const { filterToSend, ruleToSend } = makeSent(knowsLists)

  const callSearch = makeExtensionCall(call, isSearchHonoured)
  const takesRulesInBodies = saidOnAnswers(() => isSearchHonoured.current, false)

  const knowsOrders = saidOnAnswers(() => areOrdersHonoured.current, false)

  const list: ContactsService["Service"]["list"] = fn("ContactsService.list")(function* (page = {}) {
    yield* checkPage(page)
    const { after: afterContact, limit, lists = false, offset, sort } = page
    if (isSorted(page) && !(yield* knowsOrders)) {
      const [field, issue] = sort === undefined || sort === "added" ? ["after", onlyByOffset] : ["sort", onlyAdded]
      return yield* new InvalidInput({ field, issue })
    }
    const rule = page.rule === undefined ? undefined : yield* ruleToSend(page.rule)
    if (isLong(rule)) {
      const found = yield* callSearch({
        ...api.contactsSearchPost({ payload: { rule }, query: { afterContact, limit, offset, lists, sort } }),
        read: readContacts,
        refusals: ["InvalidRule", "InvalidInput"]
      }).pipe(inRule(page.rule))
      if (found !== undefined) return found
    }
    return yield* readWith(lists, (lists) =>
      call({
        ...api.contactsGet({ query: { afterContact, limit, offset, rule, lists, sort } }),
        read: readContacts,
        refusals: ["InvalidRule", "InvalidInput"]
      })
    ).pipe(inRule(page.rule))
  })

  const callHistory = makeExtensionCall(call, said(runsHonoured))
  const callRead = makeExtensionCall(call, said(readsHonoured))

  const count: ContactsService["Service"]["count"] = fn("ContactsService.count")(function* ({ rule: given } = {}) {
    const rule = given === undefined ? undefined : yield* ruleToSend(given)
    const counted = yield* (
      isLong(rule)
        ? callSearch({
            ...api.contactsSearchPost({ payload: { rule }, query: { count: true } }),
            read: readCount,
            refusals: ["InvalidRule", "InvalidInput"]
          })
        : callRead({
            ...api.contactsCountGet({ query: { rule } }),
            read: readCount,
            refusals: ["InvalidRule", "InvalidInput"]
          })
    ).pipe(inRule(given))
    return counted ?? { count: yield* Pagination.countPages((page) => list({ ...page, rule: given })) }
  })

  const fields: ContactsService["Service"]["fields"] = fn("ContactsService.fields")(function* ({ rule: given } = {}) {
    const rule = given === undefined ? undefined : yield* ruleToSend(given)
    // A long rule goes with the pages.
    const used = isLong(rule)
      ? undefined
      : yield* callRead({
          ...api.contactsFieldsGet({ query: { rule } }),
          read: readFields,
          refusals: ["InvalidRule", "InvalidInput"]
        }).pipe(inRule(given))
    if (used !== undefined) return used
    const counting = makeFieldCount()
    const pages = Pagination.streamPages((page) => list({ ...page, rule: given }))
    let left = maximumCountedContacts
    yield* Stream.runForEachWhile(pages, (contact) => {
      left -= 1
      if (left >= 0) counting.add(contact)
      return Effect.succeed(left >= 0)
    })
    return counting.result(left >= 0)
  })

  const getUntraced = Effect.fnUntraced(function* (email: string, lists?: true) {
    yield* inPath("email", email)
    return yield* call({
      ...api.contactsByEmailGet({ params: { email }, query: { lists } }),
      about: email,
      read: readContact,
      refusals: ["ContactNotFound", "InvalidInput"],
      byStatus: { 404: () => new ContactNotFound({ email }) }
    })
  })

  const getListed = (email: string, isWanted: boolean) => readWith(isWanted, (lists) => getUntraced(email, lists))

  const getMany: ContactsService["Service"]["getMany"] = fn("ContactsService.getMany")(function* (
    emails,
    { lists: isWanted = false } = {}
  ) {
    yield* checkLookup(emails)
    if (emails.length === 0) return { contacts: [], isAtOnce: true }
    const contacts = yield* readWith(isWanted, (lists) =>
      callRead({
        ...api.contactsLookupPost({ query: { lists }, payload: { emails } }),
        read: readContacts,
        refusals: ["TooManyContacts", "InvalidInput"]
      })
    )
    if (contacts !== undefined) return { contacts, isAtOnce: true }
    const one = (email: string) =>
      Effect.map(getListed(email, isWanted), (contact) => [contact]).pipe(
        Effect.catchTag("ContactNotFound", () => Effect.succeed([]))
      )
    const each = new Map(emails.map((email) => [canonicalEmail(email), email])).values()
    return { contacts: (yield* Effect.forEach(each, one, { concurrency: getsAtOnce })).flat(), isAtOnce: false }
  })

  // An unused span would take a fifth of the CPU of a call (benchmarks/get).
  const getTraced = fn("ContactsService.get")(function* (email: string, isWanted: boolean) {
    return yield* getListed(email, isWanted)
  })

  const reach = makeAddReach(
    saidOnAnswers(() => isAddModeHonoured.current, false),
    (email) => getUntraced(email)
  )
  const guarded = makeConsentGuard(isResubscribeHonoured, (email) => getUntraced(email))

  /** Whether the service knows the ladder of statuses. */
  const decidesByItself = saidOnAnswers(() => isResubscribeHonoured.current || undefined, false)

  /** Adds contacts. `readUnasked` reads an answer where nobody asked which statuses were kept. */
  const added = Effect.fnUntraced(function* (
    contacts: ReadonlyArray<ContactPayload>,
    { idempotencyKey, listNames: listnames, resubscribe, ...mode }: AddOptions,
    readUnasked: typeof readContacts
  ) {
    yield* inQuery("listNames", listnames)
    // The contract refuses what is no list.
    if (Array.isArray(contacts)) {
      if (contacts.length > maximumContactsPerAdd) {
        return yield* new TooManyContacts({ count: contacts.length, maximum: maximumContactsPerAdd })
      }
      yield* checkPlaces(contacts, listnames)
      yield* checkAddSize(contacts)
    }
    yield* checkIdempotencyKey(idempotencyKey)
    const reached = yield* reach(contacts, mode)
    // None of them is reached.
    if (Array.isArray(contacts) && contacts.length > 0 && reached.contacts.length === 0)
      return { answered: reached.whole([]), kept: [] }
    const { contacts: sent, kept, resubscribe: asked } = yield* guarded(reached.contacts, resubscribe)
    /** Whether the service has kept statuses itself, which its answer says. */
    const isAsked = () => asked !== undefined && isResubscribeHonoured.current === true
    const answered = yield* call({
      ...api.contactsPost({ query: { listnames, ...reached.mode }, payload: sent }),
      idempotencyKey,
      byStatus: keyUsed(idempotencyKey),
      read: (...answer) => (isAsked() ? readContacts(...answer) : readUnasked(...answer)),
      refusals: ["TooManyContacts", "IdempotencyKeyReused", "InvalidInput"]
    }).pipe(Effect.provideService(Resubscribe, asked))
    const keptOfSent = isAsked() ? keptByService(reached.contacts, answered) : kept
    return {
      answered: reached.whole(answered),
      kept: keptOfSent.map(({ index, status }) => ({ index: reached.placeOf(index), status }))
    }
  })

  const deleteOne = Effect.fnUntraced(function* (email: string) {
    yield* inPath("email", email)
    return yield* call({
      ...api.contactsByEmailDelete({ params: { email } }),
      about: email,
      goneAfterAmbiguous: Effect.void,
      read: readNothing,
      refusals: ["ContactNotFound", "InvalidInput"],
      byStatus: { 404: () => new ContactNotFound({ email }) }
    })
  })

  const change = makeChange(shared, {
    get: (email) => getUntraced(email),
    add: (contacts, listNames) => withoutOwnKey(added(contacts, { listNames }, readListOnly)),
    delete: deleteOne
  })

  return checkedMethods(ContactsService, {
    storeId: Effect.map(
      saidOnAnswers(() => storeId.current, { id: undefined }),
      ({ id }) => id
    ),
    list,
    count,
    fields,
    getMany,
    stream: ({ lists, offset, rule } = {}) => Pagination.streamPages((page) => list({ ...page, rule, lists }), offset),

    get: (email, { lists = false } = {}) =>
      Effect.withFiber(({ cache }) =>
        cache.tracer === undefined && !propagateTrace ? getListed(email, lists) : getTraced(email, lists)
      ),

    history: fn("ContactsService.history")(function* (email, page = {}) {
      yield* inPath("email", email)
      yield* readHistoryPage(page)
      const history = yield* callHistory({
        ...api.contactsByEmailHistoryGet({ params: { email }, query: page }),
        about: email,
        read: readHistory,
        refusals: ["ContactNotFound", "InvalidInput"],
        byStatus: { 404: () => new ContactNotFound({ email }) }
      })
      if (history !== undefined) return history
      // Its answer may be that it refuses the key.
      yield* getUntraced(email)
      const reason = new Rejected({ status: 404, detail: "this service keeps no history of contacts" })
      return yield* new ServiceError({ operation: "contactsByEmailHistoryGet", reason })
    }),

    add: fn("ContactsService.add")(function* (contacts, options = {}) {
      return (yield* added(contacts, options, readContacts)).answered
    }),

    addWithoutAnswer: fn("ContactsService.addWithoutAnswer")(function* (
      contacts: Iterable<ContactPayload>,
      options = {}
    ) {
      const some = Array.from(contacts)
      return { keptStatuses: (yield* added(some, options, readListOnly)).kept }
    }),

    update: fn("ContactsService.update")(function* (email, payload) {
      yield* inPath("email", email)
      return yield* call({
        ...api.contactsByEmailPut({ params: { email }, payload }),
        about: email,
        read: readContact,
        refusals: ["ContactNotFound", "InvalidInput"],
        byStatus: { 404: () => new ContactNotFound({ email }) }
      })
    }),

    delete: fn("ContactsService.delete")(function* (email) {
      yield* deleteOne(email)
    }),

    change: fn("ContactsService.change")(function* (changes, options) {
      return yield* change(changes, options)
    }),

    deleteMany: fn("ContactsService.deleteMany")(function* (filter) {
      const payload = yield* filterToSend(filter)
      return yield* call({
        ...api.contactsDeletePost({ payload }),
        row: filter._tag === "ByRule" ? "contactsDeletePost by rule" : "contactsDeletePost",
        read: readNothing,
        refusals: ["InvalidRule", "InvalidInput"]
      }).pipe(inRule(filter._tag === "ByRule" ? filter.rule : undefined))
    }),

    import: fn("ContactsService.import")(function* (source, options = {}) {
      yield* oneInQuery("listName", options.listName)
      yield* oneInQuery("encodingName", options.encodingName)
      const { resubscribe } = options
      if (!isLeftToService(resubscribe) && !(yield* decidesByItself)) {
        return yield* new ImportRefused({ reason: importNotGuarded })
      }
      // Some services read these from the query, some from the form, so both have them.
      const fields = Object.entries({
        listName: options.listName,
        encodingName: options.encodingName,
        fileUrl: ImportSource.$is("Address")(source) ? source.url : undefined
      }).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]))
      const file = ImportSource.$is("File")(source) ? watched(source) : undefined
      const request = HttpClientRequest.post("/contacts/import").pipe(
        HttpClientRequest.setUrlParams(fields),
        HttpClientRequest.setBody(formBody(`roster-${yield* randomId}`, fields, file))
      )
      return yield* call({
        operation: "contactsImportPost",
        send: withKey.execute(request),
        read: readNothing,
        canRepeatBody: () => file === undefined || file.canRepeat(),
        endedBy: file?.failed,
        refusals: ["ListNotFound", "ImportRefused", "InvalidInput"]
      }).pipe(Effect.provideService(Resubscribe, resubscribe))
    }),

    export: fn("ContactsService.export")(function* (request = {}, { idempotencyKey } = {}) {
      const { compressionFormat, fileFormat, fileName, filter, lists = false } = request
      yield* oneInQuery("fileName", fileName)
      yield* checkIdempotencyKey(idempotencyKey)
      if (lists && !(yield* knowsLists)) {
        const reason = new Rejected({ status: 404, detail: "this service does not tell the lists of contacts" })
        return yield* new ServiceError({ operation: "contactsExportPost", reason })
      }
      const selected: EmailsPayload = filter === undefined ? {} : yield* filterToSend(filter)
      const isInBody = exceedsQuery(selected.emails ?? [selected.rule ?? ""]) && (yield* takesRulesInBodies)
      const format = { compressionFormat, fileFormat, fileName, lists: lists || undefined }
      return yield* call({
        ...api.contactsExportPost(
          isInBody ? { query: format, payload: selected } : { query: { ...selected, ...format }, payload: undefined }
        ),
        idempotencyKey,
        byStatus: keyUsed(idempotencyKey),
        read: readLink,
        refusals: ["InvalidRule", "IdempotencyKeyReused", "InvalidInput"]
      }).pipe(inRule(filter?._tag === "ByRule" ? filter.rule : undefined))
    }),

    exportStatus: fn("ContactsService.exportStatus")(function* (id) {
      yield* ExportId.fromText(id)
      return yield* call({
        ...api.contactsExportByIdStatusGet({ params: { id } }),
        read: Effect.fnUntraced(function* (operation, response, secrets) {
          const hint = yield* PollHint
          const wait = yield* retryAfter(response)
          if (wait !== undefined) hint(wait)
          return yield* readStatus(operation, response, secrets)
        }),
        refusals: ["ExportNotFound"],
        byStatus: { 404: () => new ExportNotFound({ id }) }
      })
    }),

    download: (link) => downloadExport(shared, link)
  })
})

/**
 * The service on a new client.
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { HttpContactsService } from "@roster/http-client"
 * import { Effect, Redacted } from "effect"
 *
 * const baseUrl = "https://roster.example.com/v4"
 * const contacts = HttpContactsService.layer({ baseUrl, apiKey: Redacted.make("key") })
 *
 * export const example = ContactsService.use(({ list }) => list()).pipe(Effect.provide(contacts))
 * ```
 */
export const layer = (options: ClientOptions) =>
  Layer.effect(ContactsService, make).pipe(Layer.provide(RosterHttpApi.layer(options)))
