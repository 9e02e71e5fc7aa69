/**
 * Streams from and sinks to MQTT brokers, 3.1.1 and 5, by Eclipse Paho's clients.
 *
 * <p>Entry: {@link dev.millrace.connectors.mqtt.MqttSourceFactory} and {@link dev.millrace.connectors.mqtt.MqttSinkFactory}. All streams and sinks of a database that say the same of
 * a broker share one connection ("shared connections", Pluto, chapter 3: {@link dev.millrace.connectors.mqtt.MqttConnections}); a thread of the connection connects, subscribes and tries
 * again. What arrives goes to the inboxes of the streams that subscribed to its topic, and never waits there; a message is acknowledged to
 * the broker when all of them have it on disk.
 *
 * <pre>
 *   broker -> PahoClient3 or 5 -> MqttConnection -> MqttSubscription, one a stream -> ArrivalQueue -> stream on disk -> PUBACK or PUBCOMP
 * </pre>
 *
 * <p><b>QoS 2.</b> A message is written to the memory of each stream that it is for before PUBREC is sent, and moves from there into the stream
 * in one entry of the journal: by version 3.1.1 when PUBREL has come, after which PUBCOMP is sent; by version 5, whose client answers PUBREL by itself, at once ({@link
 * dev.millrace.connectors.mqtt.ReceivedMessages}). So whenever the process ends, a message is in the broker, in that memory or in the stream, and in one of them alone.
 */
package dev.millrace.connectors.mqtt;
