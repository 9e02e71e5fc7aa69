/**
 * Samples of a stream in bounded memory: the uniform reservoir, and the two that favour what is recent (dissertation
 * §6.2.1).
 *
 * <p>Entry: {@link dev.millrace.sketch.sample.Reservoir}. Not thread-safe; randomness comes from a seed.
 */
package dev.millrace.sketch.sample;
