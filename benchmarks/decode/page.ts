/** A page of a thousand contacts, as its text arrives. */
import { wireContact } from "../src/Records.ts"

export const size = 1000

export const pageText: string = JSON.stringify(Array.from({ length: size }, (_, index) => wireContact(index)))
