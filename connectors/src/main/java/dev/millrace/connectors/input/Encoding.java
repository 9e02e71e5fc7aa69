package dev.millrace.connectors.input;

/** How a file's bytes are characters. */
public enum Encoding {
    UTF_8,
    LATIN_1
}
