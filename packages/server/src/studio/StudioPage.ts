/** The built page of Roster Studio: its files, as they were when they were read, and the headers that protect its readers. */
import { Context, Effect, FileSystem, Path, type PlatformError } from "effect"
import { HttpServerResponse } from "effect/http"
import { promisify } from "node:util"
import { brotliCompress, constants, gzip } from "node:zlib"
import { ServeError } from "../network/ServeError.ts"

/** Where the built page stands. */
export interface StudioPageOptions {
  /** A folder with `index.html`, and with `assets` whose names change with their content. */
  readonly folder: string
}

/** The files of the page as responses. */
export interface StudioPage {
  readonly index: HttpServerResponse.HttpServerResponse
  /** A file of `assets`, in an encoding that the client takes; `undefined` for another name. */
  readonly asset: (
    name: string,
    acceptEncoding?: string
  ) => Effect.Effect<HttpServerResponse.HttpServerResponse> | undefined
}

/** The page that the service shows at its root (default: none). A reference, since only the command line has its files. */
export const ServedPage = Context.Reference<StudioPage | undefined>("@roster/server/ServedPage", {
  defaultValue: () => undefined
})

/** It runs and loads its own files alone, asks only the process that serves it, and is shown in no other page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "worker-src 'self'",
  "font-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'"
].join("; ")

const unneeded = [
  "accelerometer",
  "camera",
  "display-capture",
  "geolocation",
  "gyroscope",
  "hid",
  "magnetometer",
  "microphone",
  "midi",
  "payment",
  "serial",
  "usb"
]

const headers = {
  "content-security-policy": policy,
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": unneeded.map((feature) => `${feature}=()`).join(", "),
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff"
}

const contentTypes: Readonly<Record<string, string>> = {
  ".css": "text/css; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".png": "image/png",
  ".svg": "image/svg+xml"
}

const compressions = {
  br: (bytes: Uint8Array) => promisify(brotliCompress)(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (bytes: Uint8Array) => promisify(gzip)(bytes)
}

/** Whether a client takes an encoding: it is named, and not with the weight 0. */
const takes = (acceptEncoding: string, encoding: string): boolean =>
  acceptEncoding.split(",").some((given) => {
    const [name = "", weight = ""] = given.toLowerCase().split(";", 2)
    return name.trim() === encoding && !/^\s*q=0(?:\.0*)?\s*$/.test(weight)
  })

const assetOf = Effect.fnUntraced(function* (bytes: Uint8Array, contentType: string) {
  const response = (body: Uint8Array, encoding?: string) =>
    HttpServerResponse.uint8Array(body, {
      contentType,
      headers: {
        ...headers,
        "cache-control": "public, max-age=31536000, immutable",
        vary: "accept-encoding",
        ...(encoding === undefined ? {} : { "content-encoding": encoding })
      }
    })
  // At the first request for it.
  const compressed = (encoding: keyof typeof compressions) =>
    Effect.cached(
      Effect.map(
        Effect.promise(() => compressions[encoding](bytes)),
        (body) => response(body, encoding)
      )
    )
  const brotli = yield* compressed("br")
  const zipped = yield* compressed("gzip")
  const plain = Effect.succeed(response(bytes))
  return (acceptEncoding: string) =>
    takes(acceptEncoding, "br") ? brotli : takes(acceptEncoding, "gzip") ? zipped : plain
})

/** Reads the page once, so that it stays whole while an update replaces its files, and no request names a path. */
export const readStudioPage = Effect.fnUntraced(function* ({ folder }: StudioPageOptions) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const html = yield* fs.readFile(path.join(folder, "index.html"))
  const assets = new Map<string, Effect.Success<ReturnType<typeof assetOf>>>()
  for (const name of yield* fs.readDirectory(path.join(folder, "assets"))) {
    const contentType = contentTypes[path.extname(name)]
    if (contentType === undefined) continue
    assets.set(name, yield* assetOf(yield* fs.readFile(path.join(folder, "assets", name)), contentType))
  }
  const page: StudioPage = {
    index: HttpServerResponse.uint8Array(html, {
      contentType: "text/html; charset=utf-8",
      headers: { ...headers, "cache-control": "no-store", vary: "accept" }
    }),
    asset: (name, acceptEncoding = "") => assets.get(name)?.(acceptEncoding)
  }
  return page
})

export const cannotShow = ({ folder }: StudioPageOptions) =>
  Effect.mapError(
    ({ message }: PlatformError.PlatformError) =>
      new ServeError({ message: `The page in ${folder} cannot be read: ${message}` })
  )
