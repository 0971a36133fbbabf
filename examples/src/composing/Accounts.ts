import { ContactsService } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { Config, Context, Effect, Layer, Stream } from "effect"

/** The account of the shop. */
export class ShopContacts extends Context.Service<ShopContacts, ContactsService["Service"]>()("app/ShopContacts") {}

/** The account of the newsletter. */
export class NewsContacts extends Context.Service<NewsContacts, ContactsService["Service"]>()("app/NewsContacts") {}

const settings = (prefix: string) => ({
  baseUrl: Config.String(`${prefix}_URL`),
  apiKey: Config.Redacted(`${prefix}_KEY`)
})

const shop = Layer.effect(ShopContacts, ContactsService).pipe(Layer.provide(RosterClient.layerConfig(settings("SHOP"))))
const news = Layer.effect(NewsContacts, ContactsService).pipe(Layer.provide(RosterClient.layerConfig(settings("NEWS"))))

/** Both accounts: SHOP_URL and SHOP_KEY, NEWS_URL and NEWS_KEY. */
export const accounts = Layer.merge(shop, news)

/** Puts the customers of the shop on a list of the newsletter, and returns their number. */
export const invite = Effect.gen(function* () {
  const from = yield* ShopContacts
  const to = yield* NewsContacts
  return yield* from.stream().pipe(
    Stream.map(({ email, firstName }) => ({ email, firstName })),
    Stream.grouped(1000),
    Stream.tap((batch) => to.add(batch, { listNames: ["customers"] })),
    Stream.runFold(
      () => 0,
      (count, batch) => count + batch.length
    )
  )
})
