/** A real Kafka broker for tests, in their JVM. Entry: {@link dev.millrace.testing.kafka.KafkaBroker}. */
package dev.millrace.testing.kafka;
