package dev.millrace.connectors.file;

import java.util.Locale;

/** The formats of files. */
enum FormatName {
    CSV,
    JSON,
    ARROW,
    PARQUET;

    /** What a file's extension says, .gz left out; CSV when it says nothing. */
    static FormatName ofExtension(String path) {
        String name = path.toLowerCase(Locale.ROOT);
        if (name.endsWith(".gz")) {
            name = name.substring(0, name.length() - 3);
        }
        return switch (name.substring(name.lastIndexOf('.') + 1)) {
            case "json", "jsonl", "ndjson" -> JSON;
            case "arrow", "arrows", "ipc", "feather" -> ARROW;
            case "parquet" -> PARQUET;
            default -> CSV;
        };
    }
}
