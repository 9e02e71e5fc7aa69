/**
 * How a device sends what its queue has, and hears what the server sets.
 *
 * <p>Entry: {@link dev.millrace.edge.link.EdgeLink}, driven by the agent's thread, over a {@link dev.millrace.edge.link.DeviceWire}, which is a socket with two
 * threads of its own, or a simulated one. A link that is lost is tried again, later and later; nothing is kept here that the queue does not have.
 */
package dev.millrace.edge.link;
