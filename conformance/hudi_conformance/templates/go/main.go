// An adapter for hudi-conformance: JSON lines on standard input and output.
//
// It reads copy-on-write tables of version 8 and refuses everything else. Replace snapshot by a call of your engine, extend
// features, and run smoke and the suite after each step. Every failure panics, and answer turns the panic into an answer.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/hamba/avro/v2/ocf"
)

const engine, version = "my-engine", "0.1.0"

// The declared features. Everything else is refused: a refusal is not a failure, a wrong answer is.
var features = []string{
	"read.snapshot", "read.projection", "read.meta-columns", "copy-on-write", "storage.file", "timeline.replaced-groups",
	"key.complex", "meta-fields.absent", "partition.none", "partition.plain", "partition.hive", "partition.url-encoded",
	"partition.several-levels", "types.nested", "types.decimal", "types.temporal", "merge.commit-time", "merge.event-time",
}

// SUPPORTED: property, the only value that is supported, the value if it is absent, and the feature that any other value needs.
var supported = [][4]string{
	{"hoodie.table.version", "8", "none", "table-version"},
	{"hoodie.timeline.layout.version", "2", "none", "timeline-layout"},
	{"hoodie.table.type", "COPY_ON_WRITE", "none", "merge-on-read"},
	{"hoodie.table.base.file.format", "PARQUET", "PARQUET", "base-file-format"},
	{"hoodie.table.multiple.base.file.formats.enable", "false", "false", "base-file-format"},
	{"hoodie.datasource.write.drop.partition.columns", "false", "false", "partition.dropped-columns"},
	{"hoodie.bootstrap.base.path", "", "", "bootstrap"},
}

var meta = []string{
	"_hoodie_commit_time", "_hoodie_commit_seqno", "_hoodie_record_key", "_hoodie_partition_path", "_hoodie_file_name",
}
var completed = regexp.MustCompile(`^\d+_\d+\.(commit|replacecommit|deltacommit)$`)
var baseFile = regexp.MustCompile(`^([^_/]+)_[^_/]+_(\d+)\.parquet$`)

// message has the members that this adapter needs.
type message struct {
	Op, Table, Into, Operation, Function, Service string
	ID                                            json.RawMessage
	Query                                         struct {
		Kind    string
		Columns []string
		Where   []any
		ByID    bool `json:"by_id"`
	}
}

// commitMetadata is what a reader needs of HoodieCommitMetadata and HoodieReplaceCommitMetadata.
type commitMetadata struct {
	Stats *map[string][]struct {
		Path *string `avro:"path"`
	} `avro:"partitionToWriteStats"`
	Replaced *map[string][]string `avro:"partitionToReplaceFileIds"`
	Extra    *map[string]string   `avro:"extraMetadata"`
}

// refused is the panic for what the engine does not offer.
type refused struct{ feature, message string }

// read writes the rows of a query to an Arrow IPC file (not a stream).
func read(m message) {
	if m.Query.Kind != "snapshot" || m.Query.ByID {
		panic(refused{"read." + m.Query.Kind, "only snapshot queries are offered"})
	}
	if len(m.Query.Where) > 0 {
		panic(refused{"read.filter", "filters are not offered"})
	}
	uri := must(url.Parse(m.Table))
	if uri.Scheme != "file" {
		panic(refused{"storage." + uri.Scheme, "only local tables are read"})
	}
	rows := snapshot(uri.Path)
	columns := m.Query.Columns
	if columns == nil {
		columns = dataColumns(rows[0])
	}
	write(rows, columns, m.Into)
}

// snapshot returns the latest committed rows of the table. Call your engine here.
func snapshot(table string) (rows []arrow.Table) {
	paths, columns := latestFiles(table)
	for _, name := range paths {
		content := bytes.NewReader(must(os.ReadFile(name)))
		properties := pqarrow.ArrowReadProperties{}
		rows = append(rows, must(pqarrow.ReadTable(context.Background(), content, nil, properties, memory.DefaultAllocator)))
	}
	if len(rows) == 0 {
		panic(refused{"read.snapshot", "the schema of a table without base files is not read"})
	}
	if slices.ContainsFunc(rows, func(one arrow.Table) bool { return types(one) != types(rows[0]) }) {
		panic(refused{"schema.evolution", "the base files differ in their schemas"})
	}
	found := dataColumns(rows[0])
	slices.Sort(found)
	slices.Sort(columns)
	if columns != nil && !slices.Equal(columns, found) {
		panic(refused{"schema.evolution", "the schema of the latest commit differs from that of the base files"})
	}
	return rows
}

// latestFiles returns the newest base file of each file group that was not replaced, and the columns in the latest commit's
// schema. The metadata of the completed writes names all of them, as long as no instant was archived.
func latestFiles(table string) (paths, columns []string) {
	known := properties(table)
	timeline := filepath.Join(table, ".hoodie", or(known, "hoodie.timeline.path", "timeline"))
	history := filepath.Join(timeline, or(known, "hoodie.timeline.history.path", "history"))
	if _, err := os.Stat(filepath.Join(history, "_version_")); err == nil {
		panic(refused{"timeline.history", "the history of the timeline is not read"})
	}
	type group struct{ partition, id string }
	type file struct{ instant, path string }
	newest, replaced := map[group]file{}, map[group]bool{}
	for _, entry := range must(os.ReadDir(timeline)) { // sorted by name
		if !completed.MatchString(entry.Name()) {
			continue
		}
		commit := readCommit(filepath.Join(timeline, entry.Name()))
		for partition, ids := range deref(commit.Replaced) {
			for _, id := range ids {
				replaced[group{partition, id}] = true
			}
		}
		for partition, stats := range deref(commit.Stats) {
			for _, stat := range stats {
				name := path.Base(deref(stat.Path))
				parts := baseFile.FindStringSubmatch(name)
				if parts == nil {
					panic(refused{"merge-on-read", name + " is not a Parquet base file"})
				}
				if id := (group{partition, parts[1]}); parts[2] > newest[id].instant {
					newest[id] = file{parts[2], filepath.Join(table, partition, name)}
				}
			}
		}
		if schema := deref(commit.Extra)["schema"]; schema != "" {
			columns = columnsOf(schema)
		}
	}
	for id, file := range newest {
		if !replaced[id] {
			paths = append(paths, file.path)
		}
	}
	return paths, columns
}

// readCommit reads the metadata of one completed write: one record in an Avro container.
func readCommit(name string) (commit commitMetadata) {
	if strings.HasSuffix(name, ".deltacommit") {
		panic(refused{"merge-on-read", "log files are not read"})
	}
	decoder := must(ocf.NewDecoder(bytes.NewReader(must(os.ReadFile(name)))))
	if !decoder.HasNext() {
		panic(fmt.Errorf("%s has no whole record: %v", name, decoder.Error()))
	}
	check(decoder.Decode(&commit))
	return commit
}

// columnsOf returns the names of the data columns in an Avro schema.
func columnsOf(schema string) (names []string) {
	var record struct{ Fields []struct{ Name string } }
	check(json.Unmarshal([]byte(schema), &record))
	for _, field := range record.Fields {
		if !slices.Contains(meta, field.Name) {
			names = append(names, field.Name)
		}
	}
	return names
}

// properties returns the entries of hoodie.properties. Tables that are damaged or not supported panic.
func properties(table string) map[string]string {
	known := map[string]string{}
	for line := range strings.Lines(string(must(os.ReadFile(filepath.Join(table, ".hoodie", "hoodie.properties"))))) {
		if key, value, ok := strings.Cut(line, "="); ok && !strings.HasPrefix(line, "#") {
			known[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	for _, row := range supported {
		if value := or(known, row[0], row[2]); value != row[1] {
			panic(refused{row[3], row[0] + " is " + value})
		}
	}
	if known["hoodie.table.name"] == "" {
		panic("hoodie.table.name is missing")
	}
	name := known["hoodie.database.name"] + "." + known["hoodie.table.name"]
	if strings.Contains(name, `\`) {
		panic(refused{"properties", "the escapes in " + name + " are not decoded"})
	}
	if sum := fmt.Sprint(crc32.ChecksumIEEE([]byte(name))); or(known, "hoodie.table.checksum", sum) != sum {
		panic("the checksum in hoodie.properties is not that of " + name)
	}
	return known
}

func dataColumns(rows arrow.Table) (names []string) {
	for _, field := range rows.Schema().Fields() {
		if !slices.Contains(meta, field.Name) {
			names = append(names, field.Name)
		}
	}
	return names
}

func types(rows arrow.Table) (text string) {
	for _, field := range rows.Schema().Fields() {
		text += fmt.Sprintf("%s: %s\n", field.Name, field.Type)
	}
	return text
}

// write writes the columns, in this order, of tables that have the same columns.
func write(rows []arrow.Table, columns []string, into string) {
	var fields []arrow.Field
	for _, name := range columns {
		found, ok := rows[0].Schema().FieldsByName(name)
		if !ok {
			panic("no column " + name)
		}
		fields = append(fields, arrow.Field{Name: name, Type: found[0].Type, Nullable: true})
	}
	schema := arrow.NewSchema(fields, nil)
	file := must(os.Create(into))
	defer file.Close()
	writer := must(ipc.NewFileWriter(file, ipc.WithSchema(schema)))
	for _, table := range rows {
		batches := array.NewTableReader(table, -1)
		for batches.Next() {
			batch, chosen := batches.RecordBatch(), []arrow.Array{}
			for _, name := range columns {
				chosen = append(chosen, batch.Column(table.Schema().FieldIndices(name)[0]))
			}
			check(writer.Write(array.NewRecordBatch(schema, chosen, batch.NumRows())))
		}
	}
	check(writer.Close())
}

// answer answers one message. A panic becomes a refusal or an error.
func answer(m message) (found map[string]any) {
	defer func() {
		switch failure := recover().(type) {
		case nil:
		case refused:
			found = map[string]any{"id": m.ID, "refused": map[string]any{"feature": failure.feature, "message": failure.message}}
		default:
			found = map[string]any{"id": m.ID, "error": map[string]any{"message": fmt.Sprint(failure)}}
		}
	}()
	feature := map[string]string{
		"inspect": "inspect.table", "create": "create", "write": "write." + m.Operation, "compute": "compute." + m.Function,
		"service": "service." + m.Service, "begin": "begin", "resume": "resume",
	}[m.Op]
	switch {
	case m.Op == "hello":
		return map[string]any{"protocol": 1, "engine": engine, "version": version, "language": "go", "features": features}
	case m.Op == "read":
		read(m)
		return map[string]any{"id": m.ID, "rows": m.Into}
	case feature != "":
		panic(refused{strings.ReplaceAll(feature, "_", "-"), "not offered"})
	}
	panic("unknown operation " + m.Op)
}

func main() {
	answers := json.NewEncoder(os.Stdout)
	os.Stdout = os.Stderr // output of libraries must not mix with the protocol
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		var m message
		if err != nil || json.Unmarshal(line, &m) != nil || m.Op == "bye" {
			return
		}
		check(answers.Encode(answer(m)))
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func deref[T any](value *T) (absent T) {
	if value != nil {
		return *value
	}
	return absent
}

func or(known map[string]string, key, absent string) string {
	if value, ok := known[key]; ok {
		return value
	}
	return absent
}
