/**
 * JSON lines: one object per line, its members into columns by name.
 *
 * <p>Entry: {@link dev.millrace.connectors.json.JsonFormat}. Lines are found first, so that a damaged one costs itself
 * alone; Jackson's streaming parser reads each, and values go straight into vectors. Readers belong to one thread at a
 * time, formats are immutable.
 */
package dev.millrace.connectors.json;
