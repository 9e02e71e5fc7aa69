/**
 * Bytes that outlive the process that wrote them, as positions of sources and tokens of sinks do: who reads them knows their form and version, and
 * takes nothing else for granted.
 *
 * <p>Entry: {@link dev.millrace.kept.FormedBytes}. Any thread.
 */
package dev.millrace.kept;
