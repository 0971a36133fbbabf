/** Whether a host is this machine, so that nobody can read what is sent to it. */
export const isThisMachine = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host)
