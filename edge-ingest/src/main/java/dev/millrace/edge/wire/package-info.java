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
 * <p>Rows of a stream are sent in the order of their numbers, each version before the first of a connection that refers to it. When OPENED is
 * there nothing of an earlier connection of the device is accepted any more. The server asks for versions that it misses (NEED_VERSIONS): all behind what is
 * acknowledged is sent again then. Times are microseconds since 1970 UTC.
 */
package dev.millrace.edge.wire;
