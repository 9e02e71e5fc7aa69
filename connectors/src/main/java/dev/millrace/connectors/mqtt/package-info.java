/**
 * Streams from and sinks to MQTT brokers, 3.1.1 and 5.
 *
 * <p>Entry: {@link dev.millrace.connectors.mqtt.MqttSourceFactory} and {@link dev.millrace.connectors.mqtt.MqttSinkFactory}. All streams and sinks of a database that say the same of
 * a broker share one connection ("shared connections", Pluto, chapter 3: {@link dev.millrace.connectors.mqtt.MqttConnections}); a thread of the connection connects, subscribes and tries
 * again, by a {@code BrokerClient} each time, which has a thread that reads and writes. What arrives goes to the inboxes of the streams that subscribed to its topic, and never waits there; a message is acknowledged to
 * the broker when all of them have it on disk.
 *
 * <pre>
 *   broker -> BrokerClient -> MqttConnection -> MqttSubscription, one a stream -> ArrivalQueue -> stream on disk -> PUBACK or PUBREC
 * </pre>
 *
 * <p>The wire format is Netty's ({@code netty-codec-mqtt}); what is answered when is ours, as no client leaves that to its user at QoS 2 (decision 83). Of that, {@code ExactlyOnce} is the algorithm.
 */
package dev.millrace.connectors.mqtt;
