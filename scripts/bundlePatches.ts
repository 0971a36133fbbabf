/**
 * What the bundle has of its own, all of it for a quick start.
 */
import type { Plugin } from "rolldown"

const virtual = "\0node:"

/**
 * The modules of Node are taken when they are used: a start that asks nobody needs no TLS, and one that reads no secret no
 * cryptography. Each is made a CommonJS module, of which the bundler writes `(0, import_x.name)`; and what it takes such a
 * module by, at the top of a file, is put in the place of `import_x`.
 */
export const lazyBuiltins: Plugin = {
  name: "lazy-builtins",
  resolveId: {
    order: "pre",
    filter: { id: /^node:/ },
    // The bundler's own helpers are plain ESM.
    handler: (id, importer) => (importer?.startsWith("\0") === true ? undefined : { id: `\0${id}` })
  },
  load: {
    filter: { id: /^\0node:/ },
    handler: (id) => ({
      code: `module.exports = process.getBuiltinModule(${JSON.stringify(`node:${id.slice(virtual.length)}`)})`,
      moduleType: "js"
    })
  },
  renderChunk: (code) => {
    const taken = new Map<string, string>()
    // The bundler calls `node:fs/promises` and its like `promises`.
    const rest = code.replaceAll(
      /^var (import_(?:_node_[\w$]+|promises(?:\$\d+)?)) = (?:\/\* @__PURE__ \*\/ )?(?:__toESM\()?(require_(?:_node_[\w$]+|promises(?:\$\d+)?)\(\))(?:, 1\))?;$/gm,
      (_, name: string, module: string) => {
        taken.set(name, module)
        return ""
      }
    )
    return rest.replaceAll(
      /\b(import_(?:_node_[\w$]+|promises(?:\$\d+)?))(?![\w$])(?:\.default\b)?/g,
      (_, name: string) => {
        const module = taken.get(name)
        if (module === undefined) throw new Error(`lazy-builtins: nobody says what ${name} is`)
        // In brackets, since `new` may stand before it.
        return `(${module})`
      }
    )
  }
}

/** What a file says in place of what it says. A version of it that says something else stops the build. */
const patch = (
  name: string,
  of: RegExp | { readonly id: RegExp; readonly code: string },
  ...changes: ReadonlyArray<readonly [before: string, after: string]>
): Plugin => ({
  name,
  transform: {
    filter: of instanceof RegExp ? { id: of } : of,
    handler: (code) =>
      changes.reduce((code, [before, after]) => {
        if (!code.includes(before)) throw new Error(`${name}: this is not what there was to replace`)
        return code.replace(before, () => after)
      }, code)
  }
})

/**
 * effect/cli makes an `Intl.Segmenter` whenever it is loaded, which takes as long as half of an empty start of Node. Of
 * printable ASCII each character stands for itself, and help has nothing else.
 */
export const asciiWidths: Plugin = patch("ascii-widths", /effect\/dist\/cli\/CliOutput\.js$/, [
  `const graphemeSegmenter = /*#__PURE__*/new Intl.Segmenter(undefined, {
  granularity: "grapheme"
});`,
  `let segmenterOfOthers;
const graphemeSegmenter = {
  segment: (text) =>
    /^[\\x20-\\x7e]*$/.test(text)
      ? Array.from(text, (segment) => ({ segment }))
      : (segmenterOfOthers ??= new Intl.Segmenter(undefined, { granularity: "grapheme" })).segment(text)
};`
])

/**
 * undici loads HTTP/2, and with it TLS, before it knows whether anybody speaks it, and the HTTP of Node for a default that
 * it is never without.
 */
export const lateHttp2: Plugin = patch(
  "late-http2",
  /undici\/lib\/dispatcher\/client\.js$/,
  ["const connectH2 = require('./client-h2.js')", "const connectH2 = (...args) => require('./client-h2.js')(...args)"],
  ["const http = require('node:http')\n", ""],
  [
    `const getDefaultNodeMaxHeaderSize = http &&
  http.maxHeaderSize &&
  Number.isInteger(http.maxHeaderSize) &&
  http.maxHeaderSize > 0
  ? () => http.maxHeaderSize
  : () => { throw new InvalidArgumentError('http module not available or http.maxHeaderSize invalid') }
`,
    `const getDefaultNodeMaxHeaderSize = () => require('node:http').maxHeaderSize
`
  ]
)

/** undici looks whether a stream that it ends is a request to a server of Node, which there is only where there is its HTTP. */
export const lateHttp: Plugin = patch(
  "late-http",
  /undici\/lib\/core\/util\.js$/,
  ["const { IncomingMessage } = require('node:http')\n", ""],
  [
    "Object.getPrototypeOf(stream).constructor === IncomingMessage",
    "Object.getPrototypeOf(stream).constructor === require('node:http').IncomingMessage"
  ]
)

/** What makes the words of a failed assertion takes as long to load as a twentieth of an empty start. */
export const lateAssert: Plugin = patch("late-assert", { id: /undici\/lib\//, code: "node:assert" }, [
  "const assert = require('node:assert')",
  "const assert = (value, message) => { if (!value) require('node:assert')(value, message) }"
])

/** Every Node that runs this has all of them, and to look takes loading zlib. */
export const knownCompressions: Plugin = patch(
  "known-compressions",
  /platform-node-shared\/dist\/NodeHttpCompression\.js$/,
  [
    'typeof Zlib.zstdCompress === "function" ? ["gzip", "deflate", "br", "zstd"] : ["gzip", "deflate", "br"]',
    '["gzip", "deflate", "br", "zstd"]'
  ]
)

/**
 * effect finds out by the stack of an error whether the engine keeps the frame that it marks. V8 does, and the first stack of
 * a process takes as long as a twelfth of an empty start.
 */
export const knownFrames: Plugin = patch("known-frames", /effect\/dist\/Utils\.js$/, [
  "/*#__PURE__*/pickInternalCall()",
  '({ "~effect/Utils/internal": body => body() })["~effect/Utils/internal"]'
])

/** An endpoint makes its schemas when they are asked for: a command asks for those of one operation, of twenty. */
export const lateEndpoints: Plugin = patch(
  "late-endpoints",
  /effect\/dist\/http-api\/HttpApiEndpoint\.js$/,
  [
    `const Proto = {
`,
    `const once = make => {
  let made;
  return () => (made ??= { value: make() }).value;
};
const Proto = {
  get params() { return this.late.params() },
  get query() { return this.late.query() },
  get headers() { return this.late.headers() },
  get payload() { return this.late.payload() },
  get success() { return this.late.success() },
  get error() { return this.late.error() },
`
  ],
  [
    `  params: endpoint.params,
  query: endpoint.query,
  headers: endpoint.headers,
  payload: endpoint.payload,
  success: endpoint.success,
  error: endpoint.error,
`,
    `  late: endpoint.late,
`
  ],
  [
    "const payload = getPayload(options?.payload, method, disableCodecs);",
    "const payload = once(() => getPayload(options?.payload, method, disableCodecs));"
  ],
  [
    `    params: ensureStruct(options?.params, transformProperties),
    query: ensureStruct(options?.query, transformProperties),
    headers: ensureStruct(options?.headers, transformProperties),
    payload,
    success: getSuccessResponse(options?.success, method, payload, disableCodecs),
    error: getErrorResponse(options?.error, disableCodecs),
`,
    `    late: {
      params: once(() => ensureStruct(options?.params, transformProperties)),
      query: once(() => ensureStruct(options?.query, transformProperties)),
      headers: once(() => ensureStruct(options?.headers, transformProperties)),
      payload,
      success: once(() => getSuccessResponse(options?.success, method, payload(), disableCodecs)),
      error: once(() => getErrorResponse(options?.error, disableCodecs))
    },
`
  ]
)

/** What of undici is used, by the file that has it. */
const undici = {
  Agent: "dispatcher/agent.js",
  Client: "dispatcher/client.js",
  EnvHttpProxyAgent: "dispatcher/env-http-proxy-agent.js",
  errors: "core/errors.js",
  Pool: "dispatcher/pool.js"
}

/**
 * Of undici the connections, without fetch, caches, mocks and web sockets: a CommonJS module is taken as a whole otherwise.
 * A name that is missing here stops the build.
 */
export const leanUndici: Plugin = {
  name: "lean-undici",
  resolveId: {
    order: "pre",
    filter: { id: /^undici$/ },
    async handler(id, importer) {
      if (importer?.includes("http-client") !== true) return null
      const whole = await this.resolve(id, importer, { skipSelf: true })
      return whole === null ? null : { id: `\0undici:${whole.id.replace(/index\.js$/, "lib/")}` }
    }
  },
  load: {
    filter: { id: /^\0undici:/ },
    handler: (id) => {
      const at = (file: string) => JSON.stringify(`${id.slice("\0undici:".length)}${file}`)
      return [
        ...Object.entries(undici).map(([name, file]) => `export { default as ${name} } from ${at(file)}`),
        // The entry of undici gives dispatchers their methods; a proxy is asked for a tunnel by this one.
        `import connect from ${at("api/api-connect.js")}`,
        `import Dispatcher from ${at("dispatcher/dispatcher.js")}`,
        "Dispatcher.prototype.connect = connect"
      ].join("\n")
    }
  }
}
