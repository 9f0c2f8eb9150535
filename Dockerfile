# The server as an image: `docker build -t cellmates .`. docker-compose.yml puts it to work; alone it
# keeps a SQLite file in /var/lib/cellmates, where a volume belongs.

FROM python:3.11.14-slim-bookworm AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /build
RUN python -m venv --without-pip /opt/cellmates

# What the service runs on, from the lock and by its hashes, as wheels: nothing is compiled.
COPY requirements.txt pyproject.toml ./
COPY deploy/locked.py deploy/
RUN python deploy/locked.py >runtime.txt \
    && python deploy/locked.py setuptools >backend.txt \
    && python -m pip --python /opt/cellmates/bin/python install \
        --require-hashes --only-binary :all: -r runtime.txt \
    && python -m pip install --require-hashes --only-binary :all: -r backend.txt

COPY README.md LICENSE ./
COPY cellmates cellmates
COPY client client
COPY migrations migrations
COPY server server
RUN python -m pip wheel --no-index --no-build-isolation --no-deps --wheel-dir dist . \
    && python -m pip --python /opt/cellmates/bin/python install --no-index --no-deps dist/*.whl

FROM python:3.11.14-slim-bookworm
RUN python -m pip uninstall --yes --root-user-action ignore wheel setuptools pip \
    && useradd --system --uid 10001 --user-group --no-create-home --shell /usr/sbin/nologin cellmates \
    && install --directory --owner cellmates --group cellmates --mode 0700 /var/lib/cellmates
COPY --from=build /opt/cellmates /opt/cellmates
ENV PATH=/opt/cellmates/bin:$PATH PYTHONUNBUFFERED=1 CELLMATES_HOST=0.0.0.0 CELLMATES_PORT=8410
WORKDIR /var/lib/cellmates
USER 10001:10001
EXPOSE 8410
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request as r; r.urlopen(f'http://127.0.0.1:{os.environ[\"CELLMATES_PORT\"]}/healthz', timeout=4)"]
CMD ["cellmates-server", "serve"]
