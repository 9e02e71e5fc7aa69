/**
 * A client of brokers that speak MQTT 5, over a socket and nothing else.
 *
 * <p>Entry: {@link dev.millrace.edge.mqtt.BrokerSocket}. It connects once, subscribes to topics, sends and receives at QoS 1, and answers nothing by itself but
 * keeps the connection alive: PUBACK is its user's to send. It knows neither QoS 2 nor 3.1.1, which the agent has no use for; of the server
 * {@code connectors.mqtt} has both, over Netty, which a device has no memory for (decision 96).
 */
package dev.millrace.edge.mqtt;
