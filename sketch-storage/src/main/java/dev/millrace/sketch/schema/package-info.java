/**
 * What a stream's observations are made of, and how far each value may be off.
 *
 * <p>Entry: {@link dev.millrace.sketch.schema.SketchSchema}. Immutable values, safe on any thread.
 */
package dev.millrace.sketch.schema;
