//! The JSON Schema of the file, for editors: `tidemark schema`.

use schemars::Schema;
use schemars::generate::SchemaSettings;
use schemars::transform::RecursiveTransform;

use super::file::ConfigFile;

/// The schema as indented JSON with a newline at its end.
pub fn schema() -> String {
    // A key that may be left out shows the default of its type, `null`, which TOML cannot even write.
    let no_null = RecursiveTransform(|schema: &mut Schema| {
        if schema.get("default").is_some_and(serde_json::Value::is_null) {
            schema.remove("default");
        }
    });
    let schema = SchemaSettings::draft2020_12()
        .with_transform(no_null)
        .into_generator()
        .into_root_schema_for::<ConfigFile>();
    format!("{:#}\n", schema.as_value())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    fn keys(schema: &Value, definition: &str) -> Value {
        schema["$defs"][definition]["required"].clone()
    }

    #[test]
    fn only_what_must_be_given_is_required() {
        let schema: Value = serde_json::from_str(&super::schema()).unwrap();
        assert_eq!(schema["required"], json!(["cluster", "node", "endpoint"]));
        assert_eq!(keys(&schema, "ClusterFile"), json!(["monitor_user"]));
        assert_eq!(keys(&schema, "NodeFile"), json!(["name", "address"]));
        assert_eq!(keys(&schema, "EndpointFile"), json!(["name", "listen"]));
        assert_eq!(keys(&schema, "TlsFile"), Value::Null);
        assert_eq!(keys(&schema, "AdminFile"), json!(["listen"]));
    }

    #[test]
    fn no_key_may_be_null_and_none_may_be_unknown() {
        let text = super::schema();
        assert!(!text.contains("null"), "{text}");
        let schema: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(schema["additionalProperties"], false);
        for definition in schema["$defs"].as_object().unwrap().values() {
            assert_eq!(definition["additionalProperties"], false);
        }
    }

    /// The defaults of the schema are written by hand: a file with all of them means the same as one without.
    #[test]
    fn the_defaults_shown_are_those_in_force() {
        let schema: Value = serde_json::from_str(&super::schema()).unwrap();
        let defaults = |definition: &str| {
            let properties = schema["$defs"][definition]["properties"].as_object().unwrap();
            let lines = properties.iter().filter_map(|(key, value)| {
                let default = value.get("default").filter(|default| !default.is_object())?;
                Some(format!("{key} = {default}\n"))
            });
            lines.collect::<String>()
        };
        let file = |cluster: &str, endpoint: &str| {
            let text = format!(
                "[cluster]\nmonitor_user = \"m\"\nmonitor_password = \"\"\n{cluster}\
                 [[node]]\nname = \"a\"\naddress = \"a:1\"\n\
                 [[endpoint]]\nname = \"e\"\nlisten = \"127.0.0.1:1\"\n{endpoint}"
            );
            crate::config::Config::parse(&text, std::path::Path::new("t.toml")).unwrap()
        };
        let (cluster, endpoint) = (defaults("ClusterFile"), defaults("EndpointFile"));
        assert!(cluster.lines().count() >= 2 && endpoint.lines().count() >= 9, "{cluster}{endpoint}");
        assert_eq!(file(&cluster, &endpoint), file("", ""));
    }
}
