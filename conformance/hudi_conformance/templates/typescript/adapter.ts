/**
 * An adapter for hudi-conformance: JSON lines on standard input and output.
 *
 * It reads copy-on-write tables of version 8 and refuses everything else. Replace `snapshot` by a call of your engine, extend
 * FEATURES, and run smoke and the suite after each step.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { Table, tableFromIPC, tableToIPC } from "apache-arrow";
import avro from "avsc";
import { readParquet } from "parquet-wasm";

const [ENGINE, VERSION] = ["my-engine", "0.1.0"];

/** The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is. */
const FEATURES = [
  "read.snapshot", "read.projection", "read.meta-columns", "copy-on-write", "storage.file", "timeline.replaced-groups",
  "key.complex", "meta-fields.absent", "partition.none", "partition.plain", "partition.hive", "partition.url-encoded",
  "partition.several-levels", "types.nested", "types.decimal", "types.temporal", "merge.commit-time", "merge.event-time",
];

/** Property, the only value that is supported, the value if it is absent, and the feature that any other value needs. */
const SUPPORTED = [
  ["hoodie.table.version", "8", "none", "table-version"],
  ["hoodie.timeline.layout.version", "2", "none", "timeline-layout"],
  ["hoodie.table.type", "COPY_ON_WRITE", "none", "merge-on-read"],
  ["hoodie.table.base.file.format", "PARQUET", "PARQUET", "base-file-format"],
  ["hoodie.table.multiple.base.file.formats.enable", "false", "false", "base-file-format"],
  ["hoodie.datasource.write.drop.partition.columns", "false", "false", "partition.dropped-columns"],
  ["hoodie.bootstrap.base.path", "", "", "bootstrap"],
];

const META = [
  "_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name",
];
const COMPLETED = /^\d+_\d+\.(commit|replacecommit|deltacommit)$/;
const BASE_FILE = /^([^_/]+)_[^_/]+_(\d+)\.parquet$/;

type Message = Record<string, any>;

interface CommitMetadata {
  partitionToWriteStats: Record<string, { path: string }[]>;
  partitionToReplaceFileIds?: Record<string, string[]> | null;
  extraMetadata?: Record<string, string> | null;
}

/** The engine does not offer `feature`. */
class Refused extends Error {
  constructor(readonly feature: string, message: string) {
    super(message);
  }
}

/** Write the rows of a query to an Arrow IPC file (not a stream). */
async function read({ table, query, into }: Message): Promise<Message> {
  if (query.kind !== "snapshot" || query.by_id) throw new Refused(`read.${query.kind}`, "only snapshot queries are offered");
  if (query.where?.length) throw new Refused("read.filter", "filters are not offered");
  const { protocol } = new URL(table);
  if (protocol !== "file:") throw new Refused(`storage.${protocol.slice(0, -1)}`, "only local tables are read");
  const rows = await snapshot(fileURLToPath(table));
  const names = rows.schema.names.map(String);
  const columns: string[] = query.columns ?? names.filter((name) => !META.includes(name));
  const absent = columns.filter((name) => !names.includes(name));
  if (absent.length) throw new Error(`no column ${absent}`);
  writeFileSync(into, tableToIPC(rows.select(columns), "file"));
  return { rows: into };
}

/** The latest committed rows of the table. Call your engine here. */
async function snapshot(table: string): Promise<Table> {
  const { paths, columns } = await latestFiles(table);
  const files = paths.map((path) => tableFromIPC(readParquet(readFileSync(path)).intoIPCStream()));
  if (!files.length) throw new Refused("read.snapshot", "the schema of a table without base files is not read");
  if (new Set(files.map((file) => String(file.schema))).size > 1)
    throw new Refused("schema.evolution", "the base files differ in their schemas");
  const found = files[0].schema.names.map(String).filter((name) => !META.includes(name));
  if (columns && String(columns.sort()) !== String(found.sort()))
    throw new Refused("schema.evolution", "the schema of the latest commit differs from that of the base files");
  return files[0].concat(...files.slice(1));
}

/**
 * The newest base file of each file group that was not replaced, and the column names in the latest commit's schema.
 *
 * The metadata of the completed writes names all of them, as long as no instant was archived.
 */
async function latestFiles(table: string): Promise<{ paths: string[]; columns?: string[] }> {
  const known = properties(table);
  const timeline = join(table, ".hoodie", known.get("hoodie.timeline.path") ?? "timeline");
  if (existsSync(join(timeline, known.get("hoodie.timeline.history.path") ?? "history", "_version_")))
    throw new Refused("timeline.history", "the history of the timeline is not read");
  const newest = new Map<string, { instant: string; path: string }>(); // by partition/file id
  const replaced = new Set<string>();
  let columns: string[] | undefined;
  for (const name of readdirSync(timeline).filter((name) => COMPLETED.test(name)).sort()) {
    const commit = await commitMetadata(timeline, name);
    for (const [partition, ids] of Object.entries(commit.partitionToReplaceFileIds ?? {}))
      for (const id of ids) replaced.add(join(partition, id));
    for (const [partition, stats] of Object.entries(commit.partitionToWriteStats))
      for (const name of stats.map((stat) => stat.path.split("/").at(-1)!)) {
        const [, id, instant] = BASE_FILE.exec(name) ?? [];
        if (!id) throw new Refused("merge-on-read", `${name} is not a Parquet base file`);
        const group = join(partition, id);
        if (instant > (newest.get(group)?.instant ?? "")) newest.set(group, { instant, path: join(table, partition, name) });
      }
    const schema = commit.extraMetadata?.schema;
    const fields: Message[] = schema ? JSON.parse(schema).fields : [];
    if (schema) columns = fields.map((field) => field.name).filter((name) => !META.includes(name));
  }
  return { paths: [...newest].filter(([group]) => !replaced.has(group)).map(([, file]) => file.path), columns };
}

/** The metadata of one completed write: one record in an Avro container. */
function commitMetadata(timeline: string, name: string): Promise<CommitMetadata> {
  if (name.endsWith(".deltacommit")) throw new Refused("merge-on-read", "log files are not read");
  return new Promise((resolve, reject) => {
    const records: CommitMetadata[] = [];
    const decoder = new avro.streams.BlockDecoder();
    decoder.on("data", (record) => records.push(record)).on("error", reject);
    decoder.on("end", () => (records.length === 1 ? resolve(records[0]) : reject(new Error(`${name} has no whole record`))));
    decoder.end(readFileSync(join(timeline, name)));
  });
}

/** The entries of hoodie.properties. Tables that are damaged or not supported raise. */
function properties(table: string): Map<string, string> {
  const lines = readFileSync(join(table, ".hoodie", "hoodie.properties"), "utf8").split(/\r?\n/);
  const entries = lines.filter((line) => line.includes("=") && !line.startsWith("#")).map((line) => /^(.*?)=(.*)$/.exec(line)!);
  const known = new Map(entries.map(([, key, value]) => [key.trim(), value.trim()]));
  for (const [key, value, absent, feature] of SUPPORTED)
    if ((known.get(key) ?? absent) !== value) throw new Refused(feature, `${key} is ${known.get(key) ?? absent}`);
  if (!known.get("hoodie.table.name")) throw new Error("hoodie.table.name is missing");
  const name = `${known.get("hoodie.database.name") ?? ""}.${known.get("hoodie.table.name")}`;
  if (name.includes("\\")) throw new Refused("properties", `the escapes in ${name} are not decoded`);
  if ((known.get("hoodie.table.checksum") ?? String(crc32(name))) !== String(crc32(name)))
    throw new Error(`the checksum in hoodie.properties is not that of ${name}`);
  return known;
}

/** Operations that are not implemented yet. */
async function refuse(message: Message): Promise<Message> {
  const { op, operation, service } = message;
  const feature = { inspect: "inspect.table", write: `write.${operation}`, service: `service.${service}` }[op as string] ??
    (op === "compute" ? `compute.${message.function}` : op);
  throw new Refused(feature.replaceAll("_", "-"), "not offered");
}

/** The operations of the contract. Any other one is answered with an error. */
const WORK: Record<string, (message: Message) => Promise<Message>> = {
  read, inspect: refuse, create: refuse, write: refuse, compute: refuse, service: refuse, begin: refuse, resume: refuse,
};

/** The answer to one message; every failure becomes an error answer. */
async function answer(message: Message): Promise<Message> {
  if (message.op === "hello")
    return { protocol: 1, engine: ENGINE, version: VERSION, language: "typescript", features: FEATURES };
  try {
    if (!Object.hasOwn(WORK, message.op)) throw new Error(`unknown operation ${message.op}`);
    return { id: message.id, ...(await WORK[message.op](message)) };
  } catch (e) {
    if (e instanceof Refused) return { id: message.id, refused: { feature: e.feature, message: e.message } };
    return { id: message.id, error: { message: String(e) } };
  }
}

console.log = console.error; // output of libraries must not mix with the protocol
for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  if (message.op === "bye") break;
  process.stdout.write(JSON.stringify(await answer(message)) + "\n");
}
process.exit();
