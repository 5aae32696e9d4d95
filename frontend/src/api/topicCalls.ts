/** The API's operations on topics, their records and generators. */

import { answer, api } from "./client";
import type {
  ConsumerGroups,
  DocumentFormat,
  ExpressionTrial,
  FormatsQuery,
  Generator,
  GeneratorChange,
  GeneratorPage,
  KafkaCluster,
  NewGenerator,
  NewRecord,
  NewTopic,
  PageQuery,
  RawRecord,
  Recipe,
  RecordPage,
  RecordsQuery,
  SampleRequest,
  TopicDetail,
  TopicFiguresPage,
  TopicUse,
  TriedValue,
} from "./types";

export const listTopics = (workspace: string) =>
  answer(api.GET("/api/workspaces/{workspace}/topics", { params: { path: { workspace } } }));

export const getKafkaCluster = (workspace: string): Promise<KafkaCluster> =>
  answer(api.GET("/api/workspaces/{workspace}/kafka-cluster", { params: { path: { workspace } } }));

export const listTopicFigures = (workspace: string, query: PageQuery): Promise<TopicFiguresPage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topic-figures", {
      params: { path: { workspace }, query },
    }),
  );

const topicAt = (workspace: string, topic: string) => ({ path: { workspace, topic } });

export const getTopic = (workspace: string, topic: string): Promise<TopicDetail> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topics/{topic}", { params: topicAt(workspace, topic) }),
  );

/** `despite`: also if it is not known whether a deployment uses the topic. */
export const deleteTopic = (workspace: string, topic: string, despite: boolean) =>
  api.DELETE("/api/workspaces/{workspace}/topics/{topic}", {
    params: { ...topicAt(workspace, topic), query: despite ? { despite_unknown: true } : {} },
  });

export const listGroups = (workspace: string, topic: string): Promise<ConsumerGroups> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topics/{topic}/groups", {
      params: topicAt(workspace, topic),
    }),
  );

export const listRecords = (
  workspace: string,
  topic: string,
  query: RecordsQuery,
  signal?: AbortSignal,
): Promise<RecordPage> =>
  answer(
    api.POST("/api/workspaces/{workspace}/topics/{topic}/records/search", {
      params: topicAt(workspace, topic),
      body: query as Required<RecordsQuery>,
      ...(signal === undefined ? {} : { signal }),
    }),
  );

/** The number of records from which a schema is made. */
const SAMPLES = 100;

/** Keys or values of a topic's latest records that are whole and in JSON. */
export async function jsonSamples(
  workspace: string,
  topic: string,
  side: "key" | "value",
): Promise<string[]> {
  const { records } = await listRecords(workspace, topic, { start: "latest", limit: SAMPLES });
  return records.flatMap((record) => {
    const part = record[side];
    return part.format === "json" && !part.cut && part.text !== null ? [part.text] : [];
  });
}

/** Partitions, number of records and the latest record of a topic. */
export async function topicFacts(workspace: string, topic: string) {
  const [{ partitions, records }, page] = await Promise.all([
    getTopic(workspace, topic),
    listRecords(workspace, topic, { start: "latest", limit: 1 }),
  ]);
  return { partitions: partitions.length, records, latest: page.records[0] ?? null };
}

export const getRecord = (
  workspace: string,
  topic: string,
  partition: number,
  offset: number,
  formats: FormatsQuery,
): Promise<RawRecord> =>
  answer(
    api.POST("/api/workspaces/{workspace}/topics/{topic}/records/{partition}/{offset}", {
      params: { path: { workspace, topic, partition, offset } },
      body: formats as Required<FormatsQuery>,
    }),
  );

export const topicUses = (
  workspace: string,
  topic: string,
): Promise<{ readonly uses: readonly TopicUse[] }> =>
  answer(
    api.GET("/api/workspaces/{workspace}/topics/{topic}/uses", {
      params: topicAt(workspace, topic),
    }),
  );

/** Schemas of the JSON keys or values of a topic in topologies other than this one, each schema once. */
export async function knownSchemas(
  workspace: string,
  topic: string,
  side: "key" | "value",
  except: number,
): Promise<{ topology: string; schema: string }[]> {
  const { uses } = await topicUses(workspace, topic);
  const found = new Map<string, string>();
  for (const use of uses) {
    const { format, schema } = use[side] ?? {};
    if (use.topology === except || format !== "json" || typeof schema !== "string") continue;
    if (schema.trim() !== "" && !found.has(schema)) found.set(schema, use.name);
  }
  return [...found].map(([schema, topology]) => ({ topology, schema }));
}

/** Records of a topic as input lines of a simulation, with masked fields. */
export const sampleTopic = (
  workspace: string,
  topic: string,
  asked: SampleRequest,
): Promise<{ readonly lines: readonly Record<string, unknown>[]; readonly skipped: number }> =>
  answer(
    api.POST("/api/workspaces/{workspace}/topics/{topic}/samples", {
      params: topicAt(workspace, topic),
      body: asked,
    }),
  );

export const listGenerators = (workspace: string, query: PageQuery): Promise<GeneratorPage> =>
  answer(
    api.GET("/api/workspaces/{workspace}/generators", { params: { path: { workspace }, query } }),
  );

export const startGenerator = (workspace: string, made: NewGenerator): Promise<Generator> =>
  answer(
    api.POST("/api/workspaces/{workspace}/generators", {
      params: { path: { workspace } },
      body: made,
    }),
  );

export const stopGenerator = (generator: number): Promise<Generator> =>
  answer(api.POST("/api/generators/{generator}/stop", { params: { path: { generator } } }));

export const startGeneratorAgain = (generator: number): Promise<Generator> =>
  answer(api.POST("/api/generators/{generator}/start", { params: { path: { generator } } }));

export const changeGenerator = (generator: number, body: GeneratorChange): Promise<Generator> =>
  answer(api.PUT("/api/generators/{generator}", { params: { path: { generator } }, body }));

export const deleteGenerator = (generator: number): Promise<unknown> =>
  answer(api.DELETE("/api/generators/{generator}", { params: { path: { generator } } }));

/** The types of keys and values in Spark DDL, including those that only a schema registry defines. */
export const formatTypes = (
  workspace: string,
  formats: { key: DocumentFormat; value: DocumentFormat },
): Promise<{ readonly key: string; readonly value: string }> =>
  answer(
    api.POST("/api/workspaces/{workspace}/format-types", {
      params: { path: { workspace } },
      body: formats,
    }),
  );

/** The value, or the error, of an expression for each sample record. */
export const tryExpression = (
  workspace: string,
  asked: ExpressionTrial,
  signal: AbortSignal,
): Promise<{ readonly values: readonly TriedValue[] }> =>
  answer(
    api.POST("/api/workspaces/{workspace}/expression-values", {
      params: { path: { workspace } },
      body: asked,
      signal,
    }),
  );

/** Random records as input lines for a simulation. Nothing is written to the topic. */
export const generateRecords = (
  workspace: string,
  asked: { topic: string; recipe: Recipe; count: number; every: number },
): Promise<{ readonly lines: readonly Record<string, unknown>[] }> =>
  answer(
    api.POST("/api/workspaces/{workspace}/generated-records", {
      params: { path: { workspace } },
      body: asked,
    }),
  );

export const produceRecord = (
  workspace: string,
  topic: string,
  record: NewRecord,
): Promise<{ partition: number; offset: number }> =>
  answer(
    api.POST("/api/workspaces/{workspace}/topics/{topic}/records", {
      params: topicAt(workspace, topic),
      body: record,
    }),
  );

export const createTopics = (workspace: string, topics: readonly NewTopic[]) =>
  answer(
    api.POST("/api/workspaces/{workspace}/topics", {
      params: { path: { workspace } },
      body: { topics: [...topics] },
    }),
  );
