/** The cases of the fault catalogue, in words. Tests carry the id of their case at the head of their name. */

export interface FaultCase {
  readonly id: string
  readonly text: string
  /** Why the case is not complete yet, if it is not. */
  readonly later?: string
}

export interface FaultSection {
  readonly title: string
  readonly cases: ReadonlyArray<FaultCase>
}

/** A section from lines of an id and its text. */
const section = (title: string, lines: string, later: Readonly<Record<string, string>> = {}): FaultSection => ({
  title,
  cases: lines
    .trim()
    .split("\n")
    .map((line) => {
      const [id = "", ...words] = line.trim().split(" ")
      const reason = later[id]
      return { id, text: words.join(" "), ...(reason === undefined ? {} : { later: reason }) }
    })
})

export const faultCases: ReadonlyArray<FaultSection> = [
  section(
    "The client: transport",
    `
    C01 connecting is refused twice, then works
    C02 a name is not found, or cannot be looked up for now
    C03 a connection is reset while it is made
    C04 nobody answers while connecting
    C05 a connection is reset after the whole request was read
    C06 a kept connection closes as the next request is written
    C07 a connection is reset in the middle of an upload
    C09 a success is reset in the middle of its body
    C10 a body is shorter than its length
    C11 a chunked body has no end
    C13 a body drips byte by byte
    C14 the head of an answer never comes
    C15 a large answer comes very slowly
    C17 interim answers come before the answer
    C18 what answers is not HTTP, or an unknown version or status
    C20 the head of an answer is too large
    C21 the certificate is self-signed, expired or of another host
    C22 the port speaks no TLS
    C23 a key would be sent over the network unencrypted`
  ),
  section(
    "The client: statuses, waits and the budget of retries",
    `
    C24 429 with a time to wait
    C26 429 without a time to wait
    C27 an invalid Retry-After
    C29 503 with and without a time to wait
    C30 502 and 504 with the page of a proxy
    C31 408
    C32 499 and the statuses of content delivery networks
    C33 500, 501, 505 and others that the interface does not define, in all operations
    C35 everything fails for a thousand calls, and then recovers
    C36 409
    C37 401 and 403
    C38 a deletion finds nothing at the first attempt
    C39 a deletion finds nothing after an attempt that may have worked
    C41 the answer with a new secret is lost
    C42 the recovery after a lost secret
    C43 a write with an Idempotency-Key is repeated
    C44 deletions by addresses and by rule are interrupted
    C46 a 304 nobody asked for, and redirects to nowhere`
  ),
  section(
    "The client: redirects",
    `
    C47 a redirect to another host
    C49 redirects in circles, to other schemes, and broken ones
    C50 the link of an export on another origin`
  ),
  section(
    "The client: bodies",
    `
    C51 a page of a login or a portal in place of JSON
    C52 a success without a record
    C54 bodies in other encodings
    C55 names given twice in JSON
    C56 names that reach for prototypes
    C58 dates at the edges of what dates are
    C59 texts at the edges of what texts are
    C61 bodies of 50 MB and without end
    C63 compressed bodies
    C64 fields and values of later versions, and missing ones`
  ),
  section(
    "The client: input and secrets",
    `
    C66 addresses with characters that mean something in a path
    C67 addresses that cannot stand in a path
    C68 keys with line breaks and control characters
    C69 keys that no header can carry
    C71 more contacts than one request takes, and none
    C72 filters that are contradictory or empty
    C73 failures of all operations, searched for the key
    C74 new secrets, printed in every way
    C75 debug logging`
  ),
  section(
    "The client: interruption and polling",
    `
    C76 an interruption at any stage
    C77 thousands of calls at once
    C79 polling goes through failures of every kind
    C80 an outage that outlasts the wait for an export
    C81 an export that is not found, at first or later
    C84 the clock of the machine jumps during a wait
    C85 a download breaks off
    C86 an export fails or expires`
  ),
  section(
    "The service: access and secrets",
    `
    S01 keys that are missing, wrong or given twice
    S02 the time of an answer to a wrong key
    S03 secrets, searched in everything that is kept or said
    S06 a key is revoked while its connection is open
    S07 forged addresses of clients
    S08 every operation with every access level
    S09 a key that gives or takes more than it has
    S10 accounts that ask for what others have
    S12 many creations of one name at once
    S13 the service is killed between the commit of a new key and its answer
    S15 the audit trail under forged names and failing writes`
  ),
  section(
    "The service: HTTP and JSON",
    `
    S16 bodies that are not JSON, in every operation
    S17 values of the wrong type, in every operation and field
    S19 names given twice in JSON
    S21 very deep JSON
    S23 bodies that are too large or have no end
    S24 compressed bodies
    S25 bodies without a type or of another one
    S27 slow clients, and a thousand connections
    S29 paths that are nearly those of the interface
    S30 methods that a path does not have
    S31 requests for another host
    S32 requests of pages of other origins
    S33 clients that go away in the middle of a write
    S35 errors inside the service
    S36 the access log, searched for what it must not tell`
  ),
  section(
    "The service: data and rules",
    `
    S37 too many contacts, invalid ones, and the same one twice
    S38 one address in many spellings
    S40 rules that carry SQL
    S41 rules beyond every limit
    S43 bulk deletions that mean everything by accident
    S44 filters with rule and addresses, with neither, with too many
    S46 cells that a spreadsheet would run
    S47 texts that are hard on CSV
    S48 file names that lead elsewhere`
  ),
  section(
    "The service: imports",
    `
    S50 addresses that lead into private networks
    S51 servers that are slow, endless, broken or hostile
    S52 archives made to harm
    S53 invalid forms
    S55 bad rows among good ones
    S56 an import whose process is killed again and again`
  ),
  section(
    "The service: durability",
    `
    S58 the process is killed under mixed writes
    S59 the power fails at any system call
    S60 settings of the database that would lose writes
    S61 the disk is full
    S62 the disk fails
    S63 the file is damaged
    S65 several processes on one file
    S66 a backup during writes
    S68 readers that take very long
    S71 a list of everything of a very large store
    S72 a database server that goes away
    S73 random sequences of all operations, some at once, against a model
    S74 many clients, broken connections and kills
    S75 callers at once, in every order of their steps
    S76 any statement or call of the file system fails, of a call or a program`
  ),
  section(
    "The command line",
    `
    K01 the file of keys, under every permission
    K02 the process is killed while it writes the file of keys
    K04 keys as arguments
    K05 a new key whose output cannot be written
    K07 signals while waiting for an export
    K08 output files that exist, are none, or do not fit
    K09 contacts whose text controls a terminal
    K11 input that is no file, is empty or has no end
    K12 a part of a large add fails
    K13 deletions by rule without consent
    K14 proxies and TLS of the environment
    K18 all output, searched for the key
    K19 the start of the service: addresses, ports, and its first key
    K20 what the packages contain`,
    { K20: "comes with the publishing of the packages" }
  )
]
