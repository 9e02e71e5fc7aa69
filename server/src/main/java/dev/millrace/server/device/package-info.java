/**
 * Streams that devices send: what comes in segments, in any order and twice, becomes rows once.
 *
 * <p>Entry: {@link dev.millrace.server.device.EdgeInlets}, which knows the streams of connector {@code edge}, and {@link dev.millrace.server.device.EdgeSourceFactory}, by which they are
 * made. A stream's {@code EdgeInlet} is polled by its intake's thread, as every pushed source; connections of devices ({@code server.gateway}) only hand it
 * what arrives, and are told what became of it ({@link dev.millrace.server.device.DeviceSession}). {@link dev.millrace.server.device.SegmentFormatFactory} is the format by which what a
 * stream wrote to topics of Kafka is read.
 *
 * <p>A query whose windows devices make has a stream of its own, of partial aggregates. Its {@code PartialsInlet} follows the inlet of the devices' stream, is handed
 * each record, and has {@code at DEVICE} in its own memory, identity and last number, and {@code begun} from when it follows. Devices are acknowledged what all have.
 *
 * <p>In the stream's memory, changed with the rows themselves, are, by name: {@code at DEVICE}, the identity of the device's queue and the last number that is in the stream (8 numbers of 8
 * bytes: identity, last number, rows, segments, rows shed, segments lost, bytes, rows that came as partial aggregates; the last may be missing); {@code set} and {@code set DEVICE}, what was set for all devices or for one: a number in decimal digits, a line's end, and settings as
 * {@code edge.stream.SettingsText} has them; {@code queries}, likewise, what queries that run at the edge need. Of a stream that writes to {@code SegmentTopics}: {@code out} and a number in 16 hexadecimal digits, what waits to be written (records, each behind its
 * length, 4 bytes: number of the topic, 1 byte, length of the key, 4 bytes, key, value); {@code outlet}, the last number that was written, 8 bytes, and the name of the writer. So rows of a number are accepted once, whatever is sent again, by whom, and after whose crash.
 */
package dev.millrace.server.device;
