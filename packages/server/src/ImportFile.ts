/**
 * The CSV inside whatever was sent: the file itself, or the one file of a zip archive.
 */
import { UnreadableFile } from "@roster/domain"
import { Effect, Sink, Stream } from "effect"
import { Zip } from "effect/encoding"

/** A small archive can unfold to any size. */
const maximumUnzippedBytes = 4 * 1024 * 1024 * 1024

const isZip = (bytes: Uint8Array | undefined): boolean =>
  bytes !== undefined && bytes[0] === 0x50 && bytes[1] === 0x4b && bytes[2] === 3 && bytes[3] === 4

const unreadable = (reason: string) => new UnreadableFile({ line: 1, reason })

const unzip = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | UnreadableFile> =>
  Stream.suspend(() => {
    let files = 0
    let size = 0
    return bytes.pipe(
      Stream.pipeThroughChannel(Zip.decode()),
      Stream.filter((entry) => entry.header.type === "File"),
      Stream.flatMap((entry) => {
        files++
        const body: Stream.Stream<Uint8Array, E | Zip.ZipError | UnreadableFile> =
          files === 1 ? entry.body : Stream.fail(unreadable("the archive holds more than one file"))
        return body
      }),
      Stream.mapEffect((chunk) => {
        size += chunk.length
        return size > maximumUnzippedBytes
          ? Effect.fail(unreadable("the archive unfolds to more than 4 GiB"))
          : Effect.succeed(chunk)
      }),
      Stream.catchIf(Zip.isZipError, (error) => Stream.fail(unreadable(`the archive is broken: ${error.message}`)))
    )
  })

/**
 * @internal
 */
export const csvOf = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | UnreadableFile> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const [[first], rest] = yield* Stream.peel(bytes, Sink.take<Uint8Array>(1))
      const whole = first === undefined ? rest : Stream.concat(Stream.make(first), rest)
      return isZip(first) ? unzip(whole) : whole
    })
  )
