/**
 * What sources of several splits have in common, whatever they speak: event time of each split, and waiting for a peer that is away.
 *
 * <p>Entry: {@link dev.millrace.connectors.split.SplitTimes}, shared by the readers of one scan, and {@link
 * dev.millrace.connectors.split.Backoff}, of the thread that talks to a peer.
 */
package dev.millrace.connectors.split;
