/**
 * How small and how fast sketches are. Entry: {@link dev.millrace.benchmarks.sketch.CompareCommand}, {@code ./millrace sketch
 * compare}; {@link dev.millrace.benchmarks.sketch.SketchBenchCommand}, {@code ./millrace bench sketch}; and the JMH benchmark
 * {@link dev.millrace.benchmarks.sketch.SketchBenchmark}. The real sets are read from a folder that is not part of the
 * repository: {@code --data}, or the environment's MILLRACE_DATA, or {@code ../shared/data}.
 */
package dev.millrace.benchmarks.sketch;
