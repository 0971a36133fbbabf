/** Whether a host is this machine, so that traffic to it crosses no network. An IPv6 address may be in brackets. */
export const isLoopbackHost = (host: string): boolean =>
  /^(?:(?:[^.]+\.)*localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(host)
