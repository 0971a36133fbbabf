/**
 * Reads the text format of Prometheus by its description (version 0.0.4), apart from the code that writes it, and refuses
 * what that does not allow.
 */
export interface Sample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const names = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/
const line = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/
const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\[\\"n])*)"(?:,|$)/gy

const valueOf = (text: string): number => {
  const special: Readonly<Record<string, number>> = { NaN, "+Inf": Infinity, "-Inf": -Infinity }
  const value = special[text] ?? Number(text)
  if (Number.isNaN(value) && text !== "NaN") throw new Error(`not a value: ${text}`)
  return value
}

const labelsOf = (text: string): Readonly<Record<string, string>> => {
  const found = [...text.matchAll(label)]
  if (found.map(([all]) => all).join("") !== text) throw new Error(`not labels: ${text}`)
  return Object.fromEntries(found.map(([, name = "", value = ""]) => [name, value]))
}

/** The samples of an exposition, each of a family whose type is named once and before them. */
export const readExposition = (text: string): ReadonlyArray<Sample> => {
  if (!text.endsWith("\n")) throw new Error("the last line does not end")
  const types = new Map<string, string>()
  const seen = new Set<string>()
  let family = ""
  return text
    .slice(0, -1)
    .split("\n")
    .flatMap((one): ReadonlyArray<Sample> => {
      if (one.startsWith("# HELP ")) return []
      if (one.startsWith("# TYPE ")) {
        const [, , name = "", type = ""] = one.split(" ")
        if (!names.test(name) || !/^(counter|gauge|histogram|summary|untyped)$/.test(type)) throw new Error(one)
        if (types.has(name)) throw new Error(`${name} has two types`)
        types.set(name, type)
        family = name
        return []
      }
      const [, name = "", labels = "", value = ""] = line.exec(one) ?? []
      const suffix = types.get(family) === "histogram" ? /_(bucket|sum|count)$/ : /$^/
      if (name.replace(suffix, "") !== family) throw new Error(`not of the family ${family}: ${one}`)
      if (seen.has(`${name}{${labels}}`)) throw new Error(`twice: ${one}`)
      seen.add(`${name}{${labels}}`)
      return [{ name, labels: labelsOf(labels), value: valueOf(value) }]
    })
}

/** The value of the one sample with this name and these labels. */
export const sampleOf = (
  samples: ReadonlyArray<Sample>,
  name: string,
  labels: Readonly<Record<string, string>> = {}
): number | undefined =>
  samples.find(
    (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value)
  )?.value
