/** Segments. */
package dev.millrace.sketch.segment;
