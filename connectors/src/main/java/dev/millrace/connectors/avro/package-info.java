/**
 * Avro's binary form, by schemas of a registry or of an option.
 *
 * <p>Entry: {@link dev.millrace.connectors.avro.AvroRecordFormatFactory}. For each schema that records were written with, a {@code AvroProgram}
 * is made for the columns: steps that go over the bytes and put each value into its column or pass over it, without an object for a row or a
 * value. How a writer's schema becomes a reader's (promotion, aliases, defaults) is worked out by Avro's own {@code Resolver}, once for each
 * schema, and compiled into the steps. Decoders belong to one thread, formats are immutable.
 */
package dev.millrace.connectors.avro;
