/**
 * Where a stream's values lie, estimated online in bounded memory (dissertation §6.2.1).
 *
 * <p>Entry: {@link dev.millrace.sketch.density.KernelDensity}. Not thread-safe.
 */
package dev.millrace.sketch.density;
