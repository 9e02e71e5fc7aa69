/**
 * From sketches back to observations (dissertation §6.2.4): all of them, a sample, those of the most or the least frequent
 * combinations; by iterator, Java stream or Arrow batch.
 *
 * <p>Entry: {@link dev.millrace.sketch.materialise.Materialisation}; {@link dev.millrace.sketch.materialise.ArrowOutput} is its
 * fast path. Modes are immutable and may be exchanged from one sketch to the next, to shed load. Batches belong to whoever
 * asked for them.
 */
package dev.millrace.sketch.materialise;
