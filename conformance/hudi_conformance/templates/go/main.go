// An adapter for hudi-conformance: JSON lines on standard input and output.
//
// It reads copy-on-write tables of versions 8 and 9 and refuses everything else. Replace snapshot by a call of your engine,
// extend features, and run smoke and the suite after each step. Every failure panics, and answer turns the panic into an answer.
package main

import (
	"bufio"
	"bytes"
	"cmp"
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

// The other operations of the contract.
var operations = []string{"inspect", "compute", "create", "write", "service", "begin", "resume"}

var meta = regexp.MustCompile(`^_hoodie_(commit_time|commit_seqno|record_key|partition_path|file_name)$`)
var completed = regexp.MustCompile(`^\d+_\d+\.(commit|replacecommit|deltacommit)$`)
var baseFile = regexp.MustCompile(`^([^_/]+)_[^_/]+_(\d+)\.parquet$`)

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
	if m.Query.Kind != "snapshot" || m.Query.ByID || len(m.Query.Where) > 0 {
		panic(refused{"read." + m.Query.Kind, "only snapshot queries without a filter are offered"})
	}
	uri := must(url.Parse(m.Table))
	if uri.Scheme != "file" {
		panic(refused{"storage." + uri.Scheme, "only local tables are read"})
	}
	rows := snapshot(uri.Path)
	columns := m.Query.Columns
	if columns == nil {
		columns = dataColumns(rows[0].Schema())
	}
	chosen, fields := []int{}, []arrow.Field{}
	for _, name := range columns {
		found := rows[0].Schema().FieldIndices(name)
		if found == nil {
			panic("no column " + name)
		}
		chosen = append(chosen, found[0])
		fields = append(fields, rows[0].Schema().Field(found[0]))
	}
	schema := arrow.NewSchema(fields, nil)
	file := must(os.Create(m.Into))
	defer file.Close()
	writer := must(ipc.NewFileWriter(file, ipc.WithSchema(schema)))
	for _, table := range rows {
		for batches := array.NewTableReader(table, -1); batches.Next(); {
			arrays := []arrow.Array{}
			for _, i := range chosen {
				arrays = append(arrays, batches.RecordBatch().Column(i))
			}
			check(writer.Write(array.NewRecordBatch(schema, arrays, batches.RecordBatch().NumRows())))
		}
	}
	check(writer.Close())
}

// snapshot returns the latest committed rows of the table. Call your engine here.
func snapshot(table string) (rows []arrow.Table) {
	paths, columns := latestFiles(table)
	for _, name := range paths {
		content := bytes.NewReader(must(os.ReadFile(name)))
		properties := pqarrow.ArrowReadProperties{}
		rows = append(rows, must(pqarrow.ReadTable(context.Background(), content, nil, properties, memory.DefaultAllocator)))
		if !rows[0].Schema().Equal(rows[len(rows)-1].Schema()) {
			panic(refused{"schema.evolution", "the base files differ in their schemas"})
		}
	}
	if len(rows) == 0 {
		panic(refused{"read.snapshot", "the schema of a table without base files is not read"})
	}
	if columns != nil && !slices.Equal(slices.Sorted(slices.Values(dataColumns(rows[0].Schema()))), columns) {
		panic(refused{"schema.evolution", "the schema of the latest commit differs from that of the base files"})
	}
	return rows
}

func dataColumns(schema *arrow.Schema) (names []string) {
	for _, field := range schema.Fields() {
		if !meta.MatchString(field.Name) {
			names = append(names, field.Name)
		}
	}
	return names
}

// latestFiles returns the newest base file of each file group that was not replaced, and the columns in the latest commit's
// schema. The metadata of the completed writes names all of them, as long as no instant was archived.
func latestFiles(table string) (paths, columns []string) {
	known := properties(table)
	timeline := filepath.Join(table, ".hoodie", cmp.Or(known["hoodie.timeline.path"], "timeline"))
	history := filepath.Join(timeline, cmp.Or(known["hoodie.timeline.history.path"], "history"))
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
		if text := deref(commit.Extra)["schema"]; text != "" {
			var schema struct{ Fields []struct{ Name string } }
			check(json.Unmarshal([]byte(text), &schema))
			columns = []string{}
			for _, field := range schema.Fields {
				columns = append(columns, field.Name)
			}
		}
	}
	for id, file := range newest {
		if !replaced[id] {
			paths = append(paths, file.path)
		}
	}
	slices.Sort(columns)
	return paths, slices.DeleteFunc(columns, meta.MatchString)
}

// readCommit reads the metadata of a completed write: one record in an Avro container.
func readCommit(name string) (commit commitMetadata) {
	decoder := must(ocf.NewDecoder(bytes.NewReader(must(os.ReadFile(name)))))
	if !decoder.HasNext() {
		panic(fmt.Sprintf("%s has no whole record: %v", name, decoder.Error()))
	}
	check(decoder.Decode(&commit))
	return commit
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
		if !slices.Contains(strings.Split(row[1], "|"), known[row[0]]) {
			panic(refused{row[2], row[0] + " is " + known[row[0]]})
		}
	}
	if known["hoodie.table.name"] == "" {
		panic("hoodie.table.name is missing")
	}
	name := known["hoodie.database.name"] + "." + known["hoodie.table.name"]
	if strings.Contains(name, `\`) {
		panic(refused{"properties", "the escapes in " + name + " are not decoded"})
	}
	if sum := fmt.Sprint(crc32.ChecksumIEEE([]byte(name))); cmp.Or(known["hoodie.table.checksum"], sum) != sum {
		panic("the checksum in hoodie.properties is not that of " + name)
	}
	return known
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
	switch {
	case m.Op == "hello":
		return map[string]any{"protocol": 1, "engine": engine, "version": version, "language": "go", "features": features}
	case m.Op == "read":
		read(m)
		return map[string]any{"id": m.ID, "rows": m.Into}
	case slices.Contains(operations, m.Op):
		panic(refused{m.Op, "not offered"})
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

// deref returns the value of a nullable member, or its zero value.
func deref[T any](value *T) (absent T) {
	if value != nil {
		return *value
	}
	return absent
}
