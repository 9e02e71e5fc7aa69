/**
 * What a device and a server say to each other: this page is the protocol, version 1.
 *
 * <p>Entry: {@link dev.millrace.edge.wire.Message} and {@link dev.millrace.edge.wire.MessageCodec}. Values and bytes; stateless, any thread. Any transport that
 * keeps the order of a connection carries it.
 *
 * <p>A <i>frame</i>: 4 bytes length of what is behind the checksum, at most 32 MB; 4 bytes CRC-32C of that; 1 byte kind; fields, big endian. A <i>text</i> is 4
 * bytes length and UTF-8, <i>bytes</i> 4 bytes length and those. Kinds and fields are those of {@code Message}, in their order.
 *
 * <pre>
 *   device                                          server
 *   HELLO version, who, queue's identity      -&gt;
 *                                            &lt;-    WELCOME, or REFUSED
 *   OPEN a stream, by a number of its own     -&gt;
 *                                            &lt;-    OPENED: acknowledged up to; or what it waits for
 *   VERSION what the next rows refer to       -&gt;
 *   ROWS numbers, a segment                   -&gt;
 *                                            &lt;-    ACKNOWLEDGED up to: on disk
 *                                            &lt;-    SET settings
 *   SET_DONE                                  -&gt;
 *   PING the device's time                    -&gt;
 *                                            &lt;-    PONG both times
 *   STATUS                                    -&gt;
 * </pre>
 *
 * <p>By way of a broker (MQTT 5, QoS 1) frames go as {@link dev.millrace.edge.wire.BrokerPart parts}: what is one behind the other in these is the same as on a
 * socket. A connection has a number that the device draws, and each side numbers its parts from 0; {@link dev.millrace.edge.wire.DeviceTopics} are the topics. A part that comes twice is
 * passed over, one that is missing ends the connection, and so does number -1. A part of a connection that the server does not know is answered by that, unless it is the first.
 *
 * <p>Rows of a stream are sent in the order of their numbers, each version before the first of a connection that refers to it. When OPENED is
 * there nothing of an earlier connection of the device is accepted any more. The server asks for versions that it misses (NEED_VERSIONS): all behind what is
 * acknowledged is sent again then. Times are microseconds since 1970 UTC.
 */
package dev.millrace.edge.wire;
