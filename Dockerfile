# docker build --tag nightshift . && docker run --rm --volume "$PWD:/project" nightshift status
FROM node:22-slim AS build
WORKDIR /nightshift
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
# `package` is what the npm package has, and nothing else.
RUN npm run build && npm pack --ignore-scripts && tar -xzf nightshift-*.tgz
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:22-slim
RUN apt-get update && apt-get install -y --no-install-recommends ca-certificates git && rm -rf /var/lib/apt/lists/*
WORKDIR /nightshift
COPY --from=build /nightshift/package ./
COPY --from=build /nightshift/node_modules node_modules
RUN mkdir bin && ln -s ../dist/cli/main.js bin/nightshift
ENV PATH=/nightshift/bin:$PATH
# Where you mount your project. Any user may write there: `docker run --user` chooses one.
WORKDIR /
RUN mkdir -m 1777 project
WORKDIR /project
USER node
ENTRYPOINT ["nightshift"]
