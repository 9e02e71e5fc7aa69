/**
 * From observations to segments: the buffer that takes them, the encoder that chooses bins and forms, and the manager of
 * many streams at once.
 *
 * <p>Entry: {@link dev.millrace.sketch.stream.StreamEncoder} for one stream, {@link
 * dev.millrace.sketch.stream.SketchManager} for one per key, {@link dev.millrace.sketch.stream.Collect} for Java streams. One
 * thread each. Nothing here looks at a clock: segments close by event time, by size, or when told to.
 */
package dev.millrace.sketch.stream;
