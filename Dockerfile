# The command `cardsharp`, for an arena or a bot; who runs it has no rights, and keeps what it plays in /data.
#   docker build -t cardsharp .
#   docker run -p 8080:8080 -v cup:/data cardsharp arena --host 0.0.0.0 --insecure --data /data/arena.db
#   docker run -e CARDSHARP_PASSWORD -v cup:/data cardsharp bot --url https://arena.example --user ID
FROM python:3.13-slim AS build
WORKDIR /build
COPY requirements/uv.txt requirements/uv.txt
RUN python -m venv /opt/tools \
 && /opt/tools/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements/uv.txt
COPY . .
# The image has no C compiler: one of the registry builds the search of the best player.
RUN /opt/tools/bin/pip install --no-cache-dir --disable-pip-version-check --require-hashes -r requirements/zig.txt \
 && /opt/tools/bin/python layers/cardsharp/python/cardsharp/games/deadmansdraw/strategies/search/native/build_library.py
ENV UV_PROJECT_ENVIRONMENT=/opt/cardsharp
# Every package by its hash in uv.lock: first what builds our wheel, then the wheel, and the builder goes again.
# hadolint ignore=SC2086
RUN python -m venv --without-pip /opt/cardsharp \
 && for step in "--group setup --no-install-project" "--group setup" ""; do \
      /opt/tools/bin/uv sync --quiet --locked --no-cache --no-default-groups --no-editable \
        --no-build-isolation $step || exit; \
    done

FROM python:3.13-slim
COPY --from=build /opt/cardsharp /opt/cardsharp
RUN useradd --uid 10001 --home-dir /data --create-home cardsharp
USER 10001
WORKDIR /data
ENV PATH=/opt/cardsharp/bin:$PATH HOME=/data PYTHONUNBUFFERED=1
EXPOSE 8080
ENTRYPOINT ["cardsharp"]
CMD ["--help"]
