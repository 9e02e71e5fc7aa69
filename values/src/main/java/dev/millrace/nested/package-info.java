/**
 * Values of ARRAY and ROW as bytes: an <i>image</i> is what state, keys and generated code hold of one, since a value in
 * Arrow's nested vectors has no address of its own.
 *
 * <pre>
 * BOOLEAN                 1 byte
 * other fixed widths      as in their Arrow vector, little endian
 * text, BYTEA, JSONB      4 bytes length, then the bytes
 * BIGNUM                  the same of its key: it shows no zeros at its end
 * ARRAY                   4 bytes count, then its elements
 * ROW                     its fields
 * element or field        a byte, 0 for NULL, else 1 and the value
 * </pre>
 *
 * Equal values have equal bytes. Entry: {@link dev.millrace.nested.Images} to walk through one, {@link
 * dev.millrace.nested.ImageWriter} to make one, {@link dev.millrace.nested.NestedText} for its text. Not thread-safe but for
 * what is static. Between vectors and images goes {@code dev.millrace.batch.NestedCodec}.
 */
package dev.millrace.nested;
