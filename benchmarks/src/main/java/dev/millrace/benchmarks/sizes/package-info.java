/** What a key or a row takes of memory or disk, by what keeps it. Entry: {@link dev.millrace.benchmarks.sizes.SizesCommand}. */
package dev.millrace.benchmarks.sizes;
