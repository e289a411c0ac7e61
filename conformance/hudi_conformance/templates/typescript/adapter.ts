/**
 * An adapter for hudi-conformance: JSON lines on standard input and output.
 *
 * It reads copy-on-write tables of versions 8 and 9 and refuses everything else. Replace `snapshot` by a call of your engine,
 * extend FEATURES, and run smoke and the suite after each step.
 */
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { crc32 } from "node:zlib";
import { Table, tableFromIPC, tableToIPC } from "apache-arrow";
import avro from "avsc";
// @ts-expect-error: the module has no types
import avroUtils from "avsc/lib/utils.js";
import { readParquet } from "parquet-wasm";

const [ENGINE, VERSION] = ["my-engine", "0.1.0"];

/** The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is. */
const FEATURES = [
  "table-version.9", "read.snapshot", "read.projection", "read.meta-columns", "copy-on-write", "storage.file",
  "timeline.replaced-groups", "key.complex", "meta-fields.absent", "partition.none", "partition.plain", "partition.hive",
  "partition.url-encoded", "partition.several-levels", "types.nested", "types.decimal", "types.temporal",
  "merge.commit-time", "merge.event-time",
];

/** Property, the values that are supported (an empty one: it may be absent), and the feature that any other value needs. */
const SUPPORTED = [
  ["hoodie.table.version", "8|9", "table-version"],
  ["hoodie.timeline.layout.version", "2", "timeline-layout"],
  ["hoodie.table.type", "COPY_ON_WRITE", "merge-on-read"],
  ["hoodie.table.base.file.format", "|PARQUET", "base-file-format"],
  ["hoodie.table.multiple.base.file.formats.enable", "|false", "base-file-format"],
  ["hoodie.datasource.write.drop.partition.columns", "|false", "partition.dropped-columns"],
  ["hoodie.bootstrap.base.path", "", "bootstrap"],
];

/** The other operations of the contract. */
const REFUSED = ["inspect", "compute", "create", "write", "service", "begin", "resume"];

const META = /^_hoodie_(commit_time|commit_seqno|record_key|partition_path|file_name)$/;
const COMPLETED = /^\d+_\d+\.(commit|replacecommit|deltacommit)$/;

type Message = Record<string, any>;

/** The engine does not offer `feature`. */
class Refused extends Error {
  constructor(readonly feature: string, message: string) {
    super(message);
  }
}

/** Write the rows of a query to an Arrow IPC file (not a stream). */
async function read({ table, query, into }: Message): Promise<Message> {
  if (query.kind !== "snapshot" || query.by_id || query.where?.length)
    throw new Refused(`read.${query.kind}`, "only snapshot queries without a filter are offered");
  const { protocol } = new URL(table);
  if (protocol !== "file:") throw new Refused(`storage.${protocol.slice(0, -1)}`, "only local tables are read");
  const rows = await snapshot(fileURLToPath(table));
  const columns: string[] = query.columns ?? rows.schema.names.map(String).filter((name) => !META.test(name));
  const absent = columns.filter((name) => !rows.schema.names.includes(name));
  if (absent.length) throw new Error(`no column ${absent}`);
  writeFileSync(into, tableToIPC(rows.select(columns), "file"));
  return { rows: into };
}

/** The latest committed rows of the table. Call your engine here. */
async function snapshot(table: string): Promise<Table> {
  const paths = await latestFiles(table);
  const files = paths.map((path) => tableFromIPC(readParquet(readFileSync(path)).intoIPCStream()));
  if (!files.length) throw new Refused("read.snapshot", "the schema of a table without base files is not read");
  if (new Set(files.map((file) => String(file.schema))).size > 1)
    throw new Error("the base files differ in their schemas");
  return files[0].concat(...files.slice(1));
}

/**
 * The newest base file of each file group that was not replaced.
 *
 * The metadata of the completed writes names all of them, as long as no instant was archived.
 */
async function latestFiles(table: string): Promise<string[]> {
  const known = properties(table);
  const timeline = join(table, ".hoodie", known.get("hoodie.timeline.path") ?? "timeline");
  if (existsSync(join(timeline, known.get("hoodie.timeline.history.path") ?? "history", "_version_")))
    throw new Refused("timeline.history", "the history of the timeline is not read");
  const newest = new Map<string, string>(); // by partition/file id
  const replaced = new Set<string>();
  const schemas = new Set<string>();
  for (const name of readdirSync(timeline).filter((name) => COMPLETED.test(name)).sort()) {
    const requested = name.split("_")[0];
    const commit = await commitMetadata(readFileSync(join(timeline, name)));
    for (const [partition, ids] of Object.entries<string[]>(commit.partitionToReplaceFileIds ?? {}))
      for (const id of ids) replaced.add(join(partition, id));
    for (const [partition, stats] of Object.entries<Message[]>(commit.partitionToWriteStats))
      for (const { path, fileId } of stats) {
        if (!path.endsWith(`_${requested}.parquet`))
          throw new Refused("merge-on-read", `${path} is not a base file of ${requested}`);
        newest.set(join(partition, fileId), join(table, path));
      }
    if (commit.extraMetadata?.schema) schemas.add(commit.extraMetadata.schema);
  }
  if (schemas.size > 1) throw new Refused("schema.evolution", "the commits differ in their schemas");
  return [...newest].filter(([group]) => !replaced.has(group)).map(([, path]) => path);
}

// avsc does not compare the count of a map with the length of the file, and would read on behind its end for hours.
const { readLong } = avroUtils.Tap.prototype;
avroUtils.Tap.prototype.readLong = function () {
  if (this.pos > this.buf.length + 1024) throw new Error("commit metadata ends too early");
  return readLong.call(this);
};

/** The metadata of a completed write: one record in an Avro container. */
async function commitMetadata(content: Buffer): Promise<Message> {
  const decoder = new avro.streams.BlockDecoder();
  decoder.end(content);
  for await (const record of decoder) return record;
  throw new Error("commit metadata without a whole record");
}

/** The entries of hoodie.properties. Tables that are damaged or not supported throw. */
function properties(table: string): Map<string, string> {
  const lines = readFileSync(join(table, ".hoodie", "hoodie.properties"), "utf8").split(/\r?\n/);
  const entries = lines.filter((line) => line.includes("=") && !line.startsWith("#")).map((line) => /^(.*?)=(.*)$/.exec(line)!);
  const known = new Map(entries.map(([, key, value]) => [key.trim(), value.trim()]));
  for (const [key, values, feature] of SUPPORTED)
    if (!values.split("|").includes(known.get(key) ?? "")) throw new Refused(feature, `${key} is ${known.get(key)}`);
  if (!known.get("hoodie.table.name")) throw new Error("hoodie.table.name is missing");
  const name = `${known.get("hoodie.database.name") ?? ""}.${known.get("hoodie.table.name")}`;
  if (name.includes("\\")) throw new Refused("properties", `the escapes in ${name} are not decoded`);
  if ((known.get("hoodie.table.checksum") ?? String(crc32(name))) !== String(crc32(name)))
    throw new Error(`the checksum in hoodie.properties is not that of ${name}`);
  return known;
}

/** The answer without its id. Operations that are not implemented yet are refused. */
async function work(message: Message): Promise<Message> {
  if (message.op === "read") return read(message);
  if (REFUSED.includes(message.op)) throw new Refused(message.op, "not offered");
  throw new Error(`unknown operation ${message.op}`);
}

/** The answer to one message; every failure becomes an error answer. */
async function answer(message: Message): Promise<Message> {
  if (message.op === "hello")
    return { protocol: 1, engine: ENGINE, version: VERSION, language: "typescript", features: FEATURES };
  try {
    return { id: message.id, ...(await work(message)) };
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
