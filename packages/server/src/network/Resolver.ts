/**
 * From the host of a URL to the addresses that may be connected to.
 */
import { ImportRefused } from "@roster/domain"
import { Context, Effect } from "effect"
import { lookup } from "node:dns"
import { isIP } from "node:net"
import { hostOf, isListed, notPublic } from "./AllowedUrls.ts"
import { isMetadataAddress, isNeighbourAddress, isPublicAddress } from "./AddressPolicy.ts"

/**
 * How a host name becomes IP addresses: as the machine resolves names. No address means that there is none or that it
 * could not be found out.
 */
export const FileUrlResolver = Context.Reference<(hostname: string) => Effect.Effect<ReadonlyArray<string>>>(
  "@roster/server/FileUrlResolver",
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
 * Resolves the host of a URL, once, and refuses it unless every one of its addresses may be connected to: for a host
 * that the operator listed all but link-local and metadata addresses, for any other the public ones only. An IP address
 * that the operator listed is taken as it is.
 *
 * **Gotchas**
 *
 * Connect to nothing but these addresses: the name may lead elsewhere when it is asked again.
 */
export const resolveFileUrl: (
  url: URL,
  allowed: ReadonlyArray<string>
) => Effect.Effect<ReadonlyArray<string>, ImportRefused> = Effect.fnUntraced(function* (url, allowed) {
  const host = hostOf(url)
  const isAddress = isIP(host) !== 0
  const listed = isListed(url, allowed)
  if (listed && isAddress) return [host]
  const addresses = isAddress ? [host] : yield* (yield* FileUrlResolver)(host)
  if (!listed) {
    if (
      addresses.length > 0 &&
      addresses.every((address) => isPublicAddress(address) && !isNeighbourAddress(address))
    ) {
      return addresses
    }
    return yield* notPublic(url)
  }
  if (addresses.length === 0) {
    return yield* new ImportRefused({
      reason: `${url.hostname} has no address at present. Check the name, and that the machine of the service can resolve it.`
    })
  }
  if (addresses.some(isMetadataAddress)) {
    return yield* new ImportRefused({
      reason: `${url.hostname} leads to a link-local or metadata address, which no name may. Check the name, or ask the operator to list the IP address itself.`
    })
  }
  return addresses
})
