# One image for all services; the command chooses which: node dist/apps/<name>/src/main.js

FROM node:20-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY clients/typescript/package.json clients/typescript/
RUN npm ci --include=dev --no-audit --no-fund
COPY nest-cli.json tsconfig.json ./
COPY apps apps
COPY clients clients
COPY libs libs
COPY migrations migrations
COPY examples examples
COPY bench bench
COPY faults faults
COPY bin bin
RUN npm run build

FROM node:20-bookworm-slim AS packages
WORKDIR /app
COPY package.json package-lock.json ./
COPY clients/typescript/package.json clients/typescript/
# The PostgreSQL binaries (60 MB) serve the development launcher only.
RUN npm ci --omit=dev --no-audit --no-fund

FROM node:20-bookworm-slim
ENV NODE_ENV=production NODE_OPTIONS="--enable-source-maps --max-semi-space-size=64"
WORKDIR /app
COPY --from=packages /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY package.json LICENSE* ./
COPY bin/intendant.mjs bin/intendant.mjs
COPY examples/tools examples/tools
# Owned by root and run by another account: a service cannot change its own code.
USER node
EXPOSE 8080
CMD ["node", "dist/apps/standalone/src/main.js"]
