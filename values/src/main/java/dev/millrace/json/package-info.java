/**
 * JSONB as text in a normal form, which is what PostgreSQL's {@code jsonb_out} prints: {@code {"a": 1, "bc": [true,
 * null]}}. One blank behind each comma and colon; an object's members by the length of their keys, then by their bytes,
 * the last of equal keys; numbers with the digits they were given, without exponent; in strings only what must be escaped.
 *
 * <p>So a part of a value is a slice of its text, equal values are equal bytes (but for numbers that differ in zeros
 * behind the point alone: {@code 1.0} and {@code 1.00} are different here), and printing costs nothing.
 *
 * <p>Entry: {@link dev.millrace.json.JsonNormalizer} makes the form, {@link dev.millrace.json.JsonScan} finds parts,
 * {@link dev.millrace.json.JsonWriter} writes values of other types. A normalizer belongs to one thread.
 */
package dev.millrace.json;
