/**
 * The times of a sketch's rows: regular ones by arithmetic, irregular ones exactly or within a stated bound.
 *
 * <p>Entry: {@link dev.millrace.sketch.time.Times}, {@link dev.millrace.sketch.time.TimeCodec}. Times are immutable and safe
 * on any thread. What a tick is, the schema says.
 */
package dev.millrace.sketch.time;
