//! The JSON Schema of the file, for editors: `tidemark schema`.

use super::file::ConfigFile;

/// The schema as indented JSON with a newline at its end.
pub fn schema() -> String {
    let schema = schemars::schema_for!(ConfigFile);
    format!("{:#}\n", schema.as_value())
}
