// An adapter for hudi-conformance: JSON lines on standard input and output.
//
// It reads copy-on-write tables of versions 8 and 9 and refuses everything else. Replace snapshot by a call of your engine,
// extend features, and run smoke and the suite after each step. Every failure panics, and answer turns it into an answer.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	javaproperties "github.com/magiconair/properties"
	"github.com/twmb/avro/ocf"
)

const engine, version = "my-engine", "0.1.0"

// The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is.
var features = []string{
	"table-version.9", "read.snapshot", "read.projection", "read.meta-columns", "copy-on-write", "storage.file",
	"timeline.replaced-groups", "key.complex", "meta-fields.absent", "partition.none", "partition.plain", "partition.hive",
	"partition.url-encoded", "partition.several-levels", "types.nested", "types.decimal", "types.temporal",
	"merge.commit-time", "merge.event-time",
}

// SUPPORTED: property, the supported values (an empty one: it may be absent), and the feature that any other value needs.
var supported = [][3]string{
	{"hoodie.table.version", "8|9", "table-version"},
	{"hoodie.timeline.layout.version", "2", "timeline-layout"},
	{"hoodie.table.type", "COPY_ON_WRITE", "merge-on-read"},
	{"hoodie.table.base.file.format", "|PARQUET", "base-file-format"},
	{"hoodie.table.multiple.base.file.formats.enable", "|false", "base-file-format"},
	{"hoodie.datasource.write.drop.partition.columns", "|false", "partition.dropped-columns"},
	{"hoodie.bootstrap.base.path", "", "bootstrap"},
}

var meta = regexp.MustCompile(`^_hoodie_(commit_time|commit_seqno|record_key|partition_path|file_name)$`)
var completed = regexp.MustCompile(`^(\d+)_\d+\.(commit|replacecommit|deltacommit)$`)

type object = map[string]any

// message has the members that this adapter needs.
type message struct {
	Op, Table, Into string
	ID              json.RawMessage
	Query           struct {
		Kind    string
		Columns []string
		Where   []any
		ByID    bool `json:"by_id"`
	}
}

// commitMetadata has what a reader needs of HoodieCommitMetadata and HoodieReplaceCommitMetadata; a null there is a zero value.
type commitMetadata struct {
	PartitionToWriteStats     map[string][]struct{ Path, FileID string }
	PartitionToReplaceFileIDs map[string][]string
	ExtraMetadata             map[string]string
}

// refused is the panic for what the engine does not offer.
type refused struct{ feature, message string }

// read writes the rows of a query to an Arrow IPC file (not a stream).
func read(m message) {
	uri := must(url.Parse(m.Table))
	plain := m.Query.Kind == "snapshot" && !m.Query.ByID && len(m.Query.Where) == 0
	require(plain, refused{"read." + m.Query.Kind, "only snapshot queries without a filter are offered"})
	require(uri.Scheme == "file", refused{"storage." + uri.Scheme, "only local tables are read"})
	rows := snapshot(uri.Path, m.Query.Columns)
	file := must(os.Create(m.Into))
	defer file.Close()
	writer := must(ipc.NewFileWriter(file, ipc.WithSchema(rows[0].Schema())))
	for _, table := range rows {
		for batches := array.NewTableReader(table, -1); batches.Next(); {
			check(writer.Write(batches.RecordBatch())) // fails if the files differ in their schemas
		}
	}
	check(writer.Close())
}

// snapshot returns the latest committed rows of the table, one Arrow table for each file. Call your engine here.
func snapshot(table string, columns []string) (rows []arrow.Table) {
	for _, path := range latestFiles(table) {
		content := bytes.NewReader(must(os.ReadFile(path)))
		options := pqarrow.ArrowReadProperties{}
		file := must(pqarrow.ReadTable(context.Background(), content, nil, options, memory.DefaultAllocator))
		rows = append(rows, choose(file, columns))
	}
	require(rows != nil, refused{"read.snapshot", "the schema of a table without base files is not read"})
	return rows
}

// choose returns the columns with these names, or the data columns if names is nil.
func choose(rows arrow.Table, names []string) arrow.Table {
	if names == nil {
		for _, field := range rows.Schema().Fields() {
			names = append(names, field.Name)
		}
		names = slices.DeleteFunc(names, meta.MatchString)
	}
	fields, columns := []arrow.Field{}, []arrow.Column{}
	for _, name := range names {
		at := rows.Schema().FieldIndices(name)
		require(at != nil, "no column "+name)
		fields = append(fields, rows.Schema().Field(at[0]))
		columns = append(columns, *rows.Column(at[0]))
	}
	return array.NewTable(arrow.NewSchema(fields, nil), columns, rows.NumRows())
}

// latestFiles returns the newest base file of each file group that was not replaced.
//
// The metadata of the completed writes names all of them, as long as no instant was archived.
func latestFiles(table string) []string {
	known := properties(table)
	timeline := filepath.Join(table, ".hoodie", known.GetString("hoodie.timeline.path", "timeline"))
	history := filepath.Join(timeline, known.GetString("hoodie.timeline.history.path", "history"), "_version_")
	_, absent := os.Stat(history)
	require(absent != nil, refused{"timeline.history", "the history of the timeline is not read"})
	newest, replaced, schemas := map[string]string{}, map[string]bool{}, map[string]bool{} // groups are partition/file id
	for _, entry := range must(os.ReadDir(timeline)) {                                     // sorted by name
		instant := completed.FindStringSubmatch(entry.Name())
		if instant == nil {
			continue
		}
		reader := must(ocf.NewReader(bytes.NewReader(must(os.ReadFile(filepath.Join(timeline, instant[0]))))))
		var record any
		var commit commitMetadata
		check(reader.Decode(&record))
		check(json.Unmarshal(must(reader.Schema().EncodeJSON(record)), &commit))
		for partition, stats := range commit.PartitionToWriteStats {
			for _, stat := range stats {
				isBase := strings.HasSuffix(stat.Path, "_"+instant[1]+".parquet")
				require(isBase, refused{"merge-on-read", stat.Path + " is not a base file of " + instant[1]})
				newest[filepath.Join(partition, stat.FileID)] = filepath.Join(table, stat.Path)
			}
		}
		for partition, ids := range commit.PartitionToReplaceFileIDs {
			for _, id := range ids {
				replaced[filepath.Join(partition, id)] = true
			}
		}
		schemas[commit.ExtraMetadata["schema"]] = true
	}
	delete(schemas, "")
	require(len(schemas) < 2, refused{"schema.evolution", "the commits differ in their schemas"})
	maps.DeleteFunc(newest, func(group, _ string) bool { return replaced[group] })
	return slices.Collect(maps.Values(newest))
}

// properties returns the entries of hoodie.properties. Tables that are damaged or not supported panic.
func properties(table string) *javaproperties.Properties {
	loader := javaproperties.Loader{Encoding: javaproperties.ISO_8859_1, DisableExpansion: true}
	known := must(loader.LoadFile(filepath.Join(table, ".hoodie", "hoodie.properties")))
	for _, row := range supported {
		value := known.GetString(row[0], "")
		require(slices.Contains(strings.Split(row[1], "|"), value), refused{row[2], row[0] + " is " + value})
	}
	name := known.GetString("hoodie.table.name", "")
	require(name != "", "hoodie.table.name is missing")
	name = known.GetString("hoodie.database.name", "") + "." + name
	sum := fmt.Sprint(crc32.ChecksumIEEE([]byte(name)))
	require(known.GetString("hoodie.table.checksum", sum) == sum, "the checksum in hoodie.properties is not that of "+name)
	return known
}

// answer answers one message. A panic becomes a refusal or an error.
func answer(m message) (found object) {
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case refused:
			found = object{"id": m.ID, "refused": object{"feature": failure.feature, "message": failure.message}}
		default:
			found = object{"id": m.ID, "error": object{"message": fmt.Sprint(failure)}}
		}
	}()
	switch m.Op {
	case "hello":
		return object{"protocol": 1, "engine": engine, "version": version, "language": "go", "features": features}
	case "read":
		read(m)
		return object{"id": m.ID, "rows": m.Into}
	case "inspect", "compute", "create", "write", "service", "begin", "resume":
		panic(refused{m.Op, "not offered"})
	}
	panic("unknown operation " + m.Op)
}

func main() {
	messages, answers := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // output of libraries must not mix with the protocol
	for m := (message{}); messages.Decode(&m) == nil && m.Op != "bye"; m = (message{}) {
		check(answers.Encode(answer(m)))
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) { require(err == nil, err) }

func require(ok bool, otherwise any) {
	if !ok {
		panic(otherwise)
	}
}
