/** Whether a host is this machine: traffic to it does not cross a network. */
export const isThisMachine = (host: string): boolean =>
  host === "localhost" || host === "::1" || /^127(?:\.\d{1,3}){3}$/.test(host)
