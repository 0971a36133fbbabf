/** Resolves the host of a URL once, to addresses that may be connected to. */
import { Context, Effect } from "effect"
import { lookup } from "node:dns"
import { isIP } from "node:net"
import { hostOf, isListed, notPublic, refusedUrl } from "./AllowedUrls.ts"
import { isMetadataAddress, isNeighbourAddress, isPublicAddress } from "./AddressPolicy.ts"

/**
 * Resolves a host name to IP addresses, or to none if the lookup fails (default: as the machine does). A reference, so that
 * tests can answer in place of the machine.
 */
export const Resolver = Context.Reference<(hostname: string) => Effect.Effect<ReadonlyArray<string>>>(
  "@roster/server/Resolver",
  {
    defaultValue: () => (hostname) =>
      Effect.callback((resume) =>
        lookup(hostname, { all: true }, (error, addresses) =>
          resume(Effect.succeed(error === null ? addresses.map(({ address }) => address) : []))
        )
      )
  }
)

/**
 * Resolves the host of a URL once, and refuses it unless all addresses are public or, for a listed host, neither
 * link-local nor metadata. Connect only to these addresses: the name may resolve to others the next time.
 */
export const resolveHost = Effect.fnUntraced(function* (url: URL, allowed: ReadonlyArray<string>) {
  const host = hostOf(url)
  const isAddress = isIP(host) !== 0
  const listed = isListed(url, allowed)
  if (listed && isAddress) return [host]
  const addresses = isAddress ? [host] : yield* (yield* Resolver)(host)
  if (!listed) {
    const arePublic = addresses.every((address) => isPublicAddress(address) && !isNeighbourAddress(address))
    return arePublic && addresses.length > 0 ? addresses : yield* notPublic(url)
  }
  if (addresses.length === 0) {
    return yield* refusedUrl(
      `${url.hostname} has no address at present. Check the name, and that the machine of the service can resolve it.`
    )
  }
  if (addresses.some(isMetadataAddress)) {
    return yield* refusedUrl(
      `${url.hostname} leads to a link-local or metadata address, which no name may. Check the name, or ask ` +
        "the operator to list the IP address itself."
    )
  }
  return addresses
})
