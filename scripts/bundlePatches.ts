/**
 * What the bundle changes of other people's code, all of it for a quick start. The gains are in the CPU time of
 * `roster contacts get` over HTTP, measured by leaving out one change; RESULTS.md compares the whole with a node:http script.
 * docs/upstream has the reports that would make the changes needless.
 */
import type { Plugin } from "rolldown"

const virtual = "\0node:"

/**
 * Loads modules of Node where they are used rather than at the start of a file: TLS and cryptography are rarely needed, and an
 * ES import of `node:http` evaluates all of its exports. Each module becomes a CommonJS module, whose members the bundler
 * writes as `(0, import_x.name)`; `import_x` is then replaced by the call that loads the module.
 * Gain: 17 %, and 36 % of the embedded `get`. Report: docs/upstream/node-builtin-exports.md
 */
export const lazyBuiltins: Plugin = {
  name: "lazy-builtins",
  resolveId: {
    order: "pre",
    filter: { id: /^node:/ },
    // The bundler's own helpers are ES modules.
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
        if (module === undefined) throw new Error(`lazy-builtins: ${name} is not defined`)
        // `new` may precede the expression.
        return `(${module})`
      }
    )
  }
}

/** Replaces text in a dependency. The build stops if a new version of it lacks the text. */
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
        if (!code.includes(before)) throw new Error(`${name}: the text to replace is missing`)
        return code.replace(before, () => after)
      }, code)
  }
})

/**
 * effect/cli makes an `Intl.Segmenter` when it is loaded, a third of an empty start of Node. Each character of printable
 * ASCII is a grapheme of its own, and help consists of nothing else.
 * Gain: 17 % with `lateEndpoints`. Report: docs/upstream/effect-lazy-segmenter.md
 */
const asciiWidths: Plugin = patch("ascii-widths", /effect\/dist\/cli\/CliOutput\.js$/, [
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
 * undici loads HTTP/2, and by it TLS, for clients that do not use it, and node:http for a default that we never need.
 * Gain: 17 % with the next two. Report: docs/upstream/undici-lazy-modules.md
 */
const lateHttp2: Plugin = patch(
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

/** undici loads node:http to recognise requests to a server of Node. */
const lateHttp: Plugin = patch(
  "late-http",
  /undici\/lib\/core\/util\.js$/,
  ["const { IncomingMessage } = require('node:http')\n", ""],
  [
    "Object.getPrototypeOf(stream).constructor === IncomingMessage",
    "Object.getPrototypeOf(stream).constructor === require('node:http').IncomingMessage"
  ]
)

/** undici loads node:assert for assertions that hold. */
const lateAssert: Plugin = patch("late-assert", { id: /undici\/lib\//, code: "node:assert" }, [
  "const assert = require('node:assert')",
  "const assert = (value, message) => { if (!value) require('node:assert')(value, message) }"
])

/**
 * An endpoint makes its schemas when they are first used: a command needs those of one operation out of twenty.
 * Gain: 17 % with `asciiWidths`. Report: docs/upstream/effect-lazy-endpoint-schemas.md
 */
const lateEndpoints: Plugin = patch(
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

/** The exports of undici that are used, and their files. */
const undici = {
  Agent: "dispatcher/agent.js",
  Client: "dispatcher/client.js",
  EnvHttpProxyAgent: "dispatcher/env-http-proxy-agent.js",
  errors: "core/errors.js",
  Pool: "dispatcher/pool.js"
}

/**
 * Bundles the dispatchers of undici without fetch, caches, mocks and web sockets: its only entry is CommonJS, which is
 * bundled as a whole. A missing name stops the build.
 * Gain: 21 %. Report: docs/upstream/undici-entry-points.md
 */
const leanUndici: Plugin = {
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
        // The entry of undici adds methods to dispatchers; this one opens the tunnel of a proxy.
        `import connect from ${at("api/api-connect.js")}`,
        `import Dispatcher from ${at("dispatcher/dispatcher.js")}`,
        "Dispatcher.prototype.connect = connect"
      ].join("\n")
    }
  }
}

/** All of them, for the program. */
export const bundlePatches = [lazyBuiltins, leanUndici, lateHttp2, lateHttp, lateAssert, lateEndpoints, asciiWidths]
