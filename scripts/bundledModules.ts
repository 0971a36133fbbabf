/**
 * Which modules the bundle takes and when it loads them, for a quick start; it changes nobody's code. The gains are in
 * the CPU time of `roster contacts get` over HTTP, measured by leaving out one of them; RESULTS.md compares the whole
 * with a node:http script. docs/upstream has the reports that would make them needless.
 */
import type { Plugin } from "rolldown"

const virtual = "\0node:"

/**
 * Loads modules of Node where they are used rather than at the start of a file: TLS and cryptography are rarely needed,
 * and an ES import of `node:http` evaluates all of its exports. Each module becomes a CommonJS module, whose members
 * the bundler writes as `(0, import_x.name)`; `import_x` is then replaced by the call that loads the module. Gain: 17
 * %, and 36 % of the embedded `get`. Report: docs/upstream/node-builtin-exports.md
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
        // The entry of undici adds methods to dispatchers; this one opens the tunnel of a proxy.
        `import connect from ${at("api/api-connect.js")}`,
        `import Dispatcher from ${at("dispatcher/dispatcher.js")}`,
        "Dispatcher.prototype.connect = connect"
      ].join("\n")
    }
  }
}
