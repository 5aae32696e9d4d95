# One image for backend, workers, analyzer and Spark: the same versions everywhere.

FROM node:24-slim AS page
WORKDIR /millrace
COPY package.json package-lock.json .npmrc ./
COPY frontend/package.json frontend/
COPY codegen/package.json codegen/
RUN npm ci
COPY frontend frontend
COPY compiler/millrace_compiler/catalog/catalog.json compiler/millrace_compiler/catalog/
COPY compiler/millrace_compiler/operators compiler/millrace_compiler/operators
COPY compiler/millrace_compiler/parameters compiler/millrace_compiler/parameters
RUN npm run build --workspace frontend

FROM python:3.11-slim AS app
WORKDIR /millrace
# For the git repositories of workspaces.
RUN apt-get update && apt-get install --yes --no-install-recommends git && rm -rf /var/lib/apt/lists/*
COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock
COPY . .
COPY --from=page /millrace/frontend/dist frontend/dist
ENV PYTHONPATH=/millrace/compiler:/millrace/runtime:/millrace/backend:/millrace/workers:/millrace \
    PYTHONUNBUFFERED=1 \
    DJANGO_SETTINGS_MODULE=millrace_backend.settings \
    MILLRACE_CACHE=/opt/millrace \
    MILLRACE_OPERATOR_JAR=/opt/millrace/operator.jar \
    JAVA_HOME=/opt/millrace/java \
    MILLRACE_DATA=/data
# The Java of the lock, behind a shim that `prepare` writes; jars are fetched and the operator is
# compiled once, here, not at the first deployment.
RUN env -u MILLRACE_OPERATOR_JAR python -m launcher.prepare \
 && python -m launcher.sbom --output sbom.cdx.json \
 && useradd --create-home --uid 10001 millrace \
 && mkdir -p /data /keys /services/analyzer /services/simulator /services/store-reader \
 && chmod 700 /keys /services/* && chown -R millrace /data /keys /services /opt/millrace
USER millrace
VOLUME /data /keys
EXPOSE 8000
CMD ["uvicorn", "millrace_backend.asgi:application", "--host", "0.0.0.0", "--port", "8000", \
     "--no-proxy-headers", "--timeout-graceful-shutdown", "3", "--no-access-log", "--log-level", "warning"]
