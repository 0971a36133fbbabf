# `roster serve` on a SQLite store in the volume /data, as a user without rights.
#   docker run --publish 4010:4010 --volume roster:/data roster
# The key of the administrator is then in /data/admin.key.

FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6 AS build
WORKDIR /roster
COPY . .
RUN npx -y pnpm@12.21.0 install --frozen-lockfile && npx -y pnpm@12.21.0 exec node scripts/bundle.ts

FROM node:24.21.0-slim@sha256:0e0ff40c39bc087845bfb27465a0df4ea419520094bc35842ff83dd8cbe6f9b6
LABEL org.opencontainers.image.licenses="MIT"
COPY --from=build /roster/packages/cli/package.json /roster/LICENSE /opt/roster/
COPY --from=build /roster/packages/cli/dist/THIRD-PARTY-NOTICES.txt /roster/packages/cli/dist/roster.js /opt/roster/dist/
COPY --from=build /roster/packages/cli/dist/roster /opt/roster/dist/roster
RUN chmod +x /opt/roster/dist/roster.js && ln -s /opt/roster/dist/roster.js /usr/local/bin/roster \
  && install --directory --owner node --group node --mode 700 /data
USER node
WORKDIR /data
ENV ROSTER_DB=/data/roster.db NODE_ENV=production
# Less memory under load (docs/limits.md).
ENV NODE_OPTIONS=--max-semi-space-size=8 MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=1048576 MALLOC_TRIM_THRESHOLD_=1048576
VOLUME /data
EXPOSE 4010
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=20s CMD \
  ["node", "--eval", "fetch('http://127.0.0.1:4010/health/ready').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["roster"]
CMD ["serve", "--host", "0.0.0.0", "--port", "4010", "--key-file", "/data/admin.key"]
