/**
 * Files of sketches as a relation: {@code CREATE STREAM s WITH (connector = 'sketch', path = 's.sketch')}.
 *
 * <p>Entry: {@link dev.millrace.sketch.source.SketchSourceFactory}, found as a service. Readers give rows as the sketches show them, or where only their
 * number counts those that are alike as one ({@link dev.millrace.sketch.condense.CondensedRows}). Each reader is used by one thread at a time.
 */
package dev.millrace.sketch.source;
