//! As much of JSON Schema as the schemas of this repository use: types, constants, choices,
//! required and further keys, items, bounds, and references within the schema.

use serde_json::Value;

/// What of it this reads; a schema that uses more is refused, not half checked.
const KEYWORDS: &[&str] = &[
    "$schema",
    "$id",
    "$defs",
    "$ref",
    "title",
    "description",
    "type",
    "const",
    "enum",
    "required",
    "properties",
    "additionalProperties",
    "items",
    "minItems",
    "maxItems",
    "minimum",
];

/// What of a value isn't as a schema says, each with its place in the value.
pub fn faults(root: &Value, schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let schema = match schema["$ref"].as_str() {
        Some(reference) => root.pointer(reference.trim_start_matches('#')).unwrap(),
        None => schema,
    };
    let mut found = Vec::new();
    let mut wrong = |what: String| found.push(format!("{at}: {what}"));
    for keyword in schema.as_object().unwrap().keys() {
        assert!(KEYWORDS.contains(&keyword.as_str()), "`{keyword}` is not checked");
    }
    if !types(&schema["type"]).iter().any(|kind| is_of(value, kind)) {
        wrong(format!("{value} is no {}", schema["type"]));
    }
    if schema.get("const").is_some_and(|only| only != value) {
        wrong(format!("{value} is not {}", schema["const"]));
    }
    if schema["enum"].as_array().is_some_and(|all| !all.contains(value)) {
        wrong(format!("{value} is none of {}", schema["enum"]));
    }
    if let (Some(low), Some(number)) = (schema["minimum"].as_i64(), value.as_i64())
        && number < low
    {
        wrong(format!("{number} is below {low}"));
    }
    if let Some(items) = value.as_array() {
        let count = items.len() as u64;
        let low = schema["minItems"].as_u64().unwrap_or(0);
        let high = schema["maxItems"].as_u64().unwrap_or(u64::MAX);
        if !(low..=high).contains(&count) {
            wrong(format!("{count} items"));
        }
        for (index, item) in items.iter().enumerate() {
            found.extend(faults(root, &schema["items"], item, &format!("{at}/{index}")));
        }
        return found;
    }
    let Some(object) = value.as_object() else { return found };
    for key in schema["required"].as_array().into_iter().flatten() {
        if !object.contains_key(key.as_str().unwrap()) {
            wrong(format!("{key} is missing"));
        }
    }
    assert_eq!(schema["additionalProperties"], false, "{at}: further keys are left open");
    for (key, value) in object {
        match schema["properties"].get(key) {
            Some(of_key) => found.extend(faults(root, of_key, value, &format!("{at}/{key}"))),
            None => found.push(format!("{at}: `{key}` is not known")),
        }
    }
    found
}

fn types(named: &Value) -> Vec<&str> {
    match named {
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        name => vec![name.as_str().unwrap()],
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("type `{other}` is not checked"),
    }
}
