"""The container image of an exported job: driver and executors run from the same one."""

from __future__ import annotations

from millrace_compiler.program.versions import CONNECTOR

_BASE = """\
FROM eclipse-temurin:21-jre
RUN apt-get update && apt-get install -y --no-install-recommends python3 python3-venv \\
    && rm -rf /var/lib/apt/lists/* \\
    && useradd --uid 185 --create-home spark
WORKDIR /job
COPY requirements.txt .
RUN python3 -m venv /venv && /venv/bin/pip install --no-cache-dir -r requirements.txt \\
    && ln -s "$(/venv/bin/python -c 'import pyspark; print(pyspark.__path__[0])')" /opt/spark
COPY . .
"""

DOCKERFILE = f"""\
{_BASE}\
ENV SPARK_HOME=/opt/spark PYSPARK_PYTHON=/venv/bin/python PYTHONPATH=/job \\
    MILLRACE_CACHE=/opt/millrace MILLRACE_JARS=/opt/jars \\
    KAFKA_BOOTSTRAP_SERVERS=kafka:9092 CHECKPOINT=/checkpoint
# Fetch the Kafka and S3 connectors now, not at the first start.
RUN env -u MILLRACE_JARS /venv/bin/python -m millrace_runtime.jars /opt/jars s3 \\
    && mkdir -p /checkpoint && chown -R spark /opt/millrace /checkpoint
USER 185
VOLUME /checkpoint
ENTRYPOINT ["/bin/sh", "/job/entrypoint.sh"]
"""

ENTRYPOINT = """\
#!/bin/sh
# driver OPTION...   run the job with these options
# executor           run an executor; Spark passes this argument and sets the variables
# OPTION...          run the job with the broker and checkpoint from the environment
set -eu
python=${PYSPARK_PYTHON:-/venv/bin/python}
case "${1:-}" in
  driver)
    shift
    exec "$python" job.py "$@"
    ;;
  executor)
    set -- "-Xms$SPARK_EXECUTOR_MEMORY" "-Xmx$SPARK_EXECUTOR_MEMORY"
    number=0
    while option=$(printenv "SPARK_JAVA_OPT_$number"); do
      set -- "$@" "$option"
      number=$((number + 1))
    done
    exec "$JAVA_HOME/bin/java" "$@" -cp "${SPARK_CLASSPATH:-}:$SPARK_HOME/jars/*" \\
      org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend \\
      --driver-url "$SPARK_DRIVER_URL" \\
      --executor-id "$SPARK_EXECUTOR_ID" \\
      --cores "$SPARK_EXECUTOR_CORES" \\
      --app-id "$SPARK_APPLICATION_ID" \\
      --hostname "$SPARK_EXECUTOR_POD_IP" \\
      --resourceProfileId "$SPARK_RESOURCE_PROFILE_ID" \\
      --podName "$SPARK_EXECUTOR_POD_NAME"
    ;;
  *)
    exec "$python" job.py --bootstrap-servers "$KAFKA_BOOTSTRAP_SERVERS" \\
      --checkpoint "$CHECKPOINT" "$@"
    ;;
esac
"""

PLAIN_DOCKERFILE = f"""\
{_BASE}\
ENV SPARK_HOME=/opt/spark PYSPARK_PYTHON=/venv/bin/python \\
    KAFKA_BOOTSTRAP_SERVERS=kafka:9092 CHECKPOINT=/checkpoint
# Fetch the Kafka connector now, not at the first start.
RUN echo > /tmp/nothing.py \\
    && /opt/spark/bin/spark-submit --conf spark.jars.ivy=/opt/ivy --packages \\
        {CONNECTOR} /tmp/nothing.py \\
    && mkdir -p /checkpoint && chown -R spark /checkpoint
USER 185
VOLUME /checkpoint
ENTRYPOINT ["/bin/sh", "/job/entrypoint.sh"]
"""

PLAIN_ENTRYPOINT = """\
#!/bin/sh
# OPTION...   run the job with the broker and checkpoint from the environment
set -eu
PYSPARK_SUBMIT_ARGS="--jars $(ls /opt/ivy/jars/*.jar | paste -sd, -) pyspark-shell"
export PYSPARK_SUBMIT_ARGS
exec "$PYSPARK_PYTHON" job.py --bootstrap-servers "$KAFKA_BOOTSTRAP_SERVERS" \\
  --checkpoint "$CHECKPOINT" "$@"
"""
