//! The part of the interface of lance-core, lance-encoding, lance-file and lance-io 13 that hudi-core is compiled against.
//!
//! hudi-core reads base files of the Lance format with these crates, and has no feature to leave them out. They bring 250 further
//! crates and need `protoc`. No table of the suite has a Lance file. Here opening a Lance store is an error, on which the adapter
//! refuses the table; the types behind it have no values, so that nothing can be read from them.

use std::fmt;

/// The error of every Lance file.
#[derive(Debug)]
pub struct Error;

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("base files of the format Lance are not supported by this build")
    }
}

impl std::error::Error for Error {}

pub type Result<T> = std::result::Result<T, Error>;

/// A type without values.
#[derive(Debug, Clone, Copy)]
pub enum Never {}

pub struct LanceEncodingsIo(Never);

impl LanceEncodingsIo {
    pub fn new(file: scheduler::FileScheduler) -> Self {
        match file.0 {}
    }

    pub fn with_read_chunk_size(self, _size: u64) -> Self {
        self
    }
}

pub enum ReadBatchParams {
    RangeFull,
}

/// The schema of a Lance file.
pub struct Schema(Never);

impl From<&Schema> for arrow_schema::Schema {
    fn from(schema: &Schema) -> Self {
        match schema.0 {}
    }
}

pub mod cache {
    pub struct LanceCache;

    impl LanceCache {
        pub fn no_cache() -> Self {
            Self
        }
    }
}

pub mod utils {
    pub struct CachedFileSize;

    impl CachedFileSize {
        pub fn new(_size: u64) -> Self {
            Self
        }

        pub fn unknown() -> Self {
            Self
        }
    }

    pub mod tokio {
        pub fn get_num_compute_intensive_cpus() -> usize {
            1
        }
    }
}

pub mod decoder {
    pub struct DecoderPlugins {}

    pub struct FilterExpression;

    impl FilterExpression {
        pub fn no_filter() -> Self {
            Self
        }
    }
}

pub mod object_store {
    use std::collections::HashMap;
    use std::sync::Arc;

    use crate::{Error, Never, Result};

    pub struct ObjectStore(pub(crate) Never);

    impl ObjectStore {
        pub async fn from_uri_and_params(
            _registry: Arc<ObjectStoreRegistry>,
            _uri: &str,
            _params: &ObjectStoreParams,
        ) -> Result<(Arc<Self>, object_store::path::Path)> {
            Err(Error)
        }
    }

    #[derive(Default)]
    pub struct ObjectStoreRegistry;

    #[derive(Default)]
    pub struct ObjectStoreParams {
        pub object_store: Option<(Arc<dyn object_store::ObjectStore>, url::Url)>,
        pub storage_options_accessor: Option<Arc<StorageOptionsAccessor>>,
    }

    pub struct StorageOptionsAccessor;

    impl StorageOptionsAccessor {
        pub fn with_static_options(_options: HashMap<String, String>) -> Self {
            Self
        }
    }
}

pub mod scheduler {
    use std::sync::Arc;

    use crate::object_store::ObjectStore;
    use crate::utils::CachedFileSize;
    use crate::{Never, Result};

    pub struct SchedulerConfig(Never);

    impl SchedulerConfig {
        pub fn max_bandwidth(store: &ObjectStore) -> Self {
            match store.0 {}
        }
    }

    pub struct ScanScheduler(Never);

    impl ScanScheduler {
        pub fn new(_store: Arc<ObjectStore>, config: SchedulerConfig) -> Arc<Self> {
            match config.0 {}
        }

        pub async fn open_file(&self, _path: &object_store::path::Path, _size: &CachedFileSize) -> Result<FileScheduler> {
            match self.0 {}
        }
    }

    pub struct FileScheduler(pub(crate) Never);

    impl FileScheduler {
        pub fn reader(&self) -> &FileScheduler {
            self
        }

        pub fn path(&self) -> &object_store::path::Path {
            match self.0 {}
        }
    }
}

pub mod reader {
    use std::pin::Pin;
    use std::sync::Arc;
    use std::task::{Context, Poll};

    use arrow_array::RecordBatch;
    use futures::Stream;
    use object_store::path::Path;

    use crate::cache::LanceCache;
    use crate::decoder::{DecoderPlugins, FilterExpression};
    use crate::scheduler::FileScheduler;
    use crate::{LanceEncodingsIo, Never, ReadBatchParams, Result, Schema};

    pub struct CachedFileMetadata {
        pub file_schema: Arc<Schema>,
        pub num_rows: u64,
        never: Never,
    }

    impl CachedFileMetadata {
        pub fn version(&self) -> Never {
            self.never
        }
    }

    #[derive(Default)]
    pub struct FileReaderOptions {
        pub read_chunk_size: u64,
    }

    pub struct ReaderProjection(pub(crate) Never);

    pub struct FileReader(Never);

    impl FileReader {
        pub async fn read_all_metadata(file: &FileScheduler) -> Result<CachedFileMetadata> {
            match file.0 {}
        }

        pub async fn try_open_with_file_metadata(
            _io: Arc<LanceEncodingsIo>,
            _path: Path,
            _projection: Option<ReaderProjection>,
            _plugins: Arc<DecoderPlugins>,
            metadata: Arc<CachedFileMetadata>,
            _cache: &LanceCache,
            _options: FileReaderOptions,
        ) -> Result<Self> {
            match metadata.never {}
        }

        pub fn schema(&self) -> &Arc<Schema> {
            match self.0 {}
        }

        pub fn num_rows(&self) -> u64 {
            match self.0 {}
        }

        pub async fn read_stream(
            &self,
            _range: ReadBatchParams,
            _batch_size: u32,
            _readahead: u32,
            _filter: FilterExpression,
        ) -> Result<RowStream> {
            match self.0 {}
        }
    }

    pub struct RowStream(Never);

    impl RowStream {
        pub fn schema(&self) -> Arc<arrow_schema::Schema> {
            match self.0 {}
        }
    }

    impl Stream for RowStream {
        type Item = Result<RecordBatch>;

        fn poll_next(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
            match self.0 {}
        }
    }
}

pub mod versions {
    use crate::reader::ReaderProjection;
    use crate::{Never, Result, Schema};

    pub fn reader_projection_from_column_names(version: Never, _schema: &Schema, _names: &[&str]) -> Result<ReaderProjection> {
        match version {}
    }
}
