/**
 * {@code ./millrace sketch}: files to sketches and back.
 *
 * <p>Entry: {@link dev.millrace.cli.sketch.SketchCommand}. One thread. The work is done by {@code dev.millrace.sketch};
 * {@code compare} is in benchmarks, where the libraries are that it compares with.
 */
package dev.millrace.cli.sketch;
