/**
 * Streams from and to Apache Kafka.
 *
 * <p>Entry: {@link dev.millrace.connectors.kafka.KafkaSourceFactory}; {@link dev.millrace.connectors.kafka.KafkaTopics} for records that are no rows. A scan has one consumer, which a thread of its own ({@link
 * dev.millrace.connectors.kafka.KafkaFetcher}) polls: it finds partitions, fetches, and starts over when the brokers were away. What it
 * fetched waits, bounded, in {@link dev.millrace.connectors.kafka.FetchedPartition}s for the readers, which decode on the workers' threads
 * and never wait.
 *
 * <pre>
 *   brokers -> KafkaFetcher (1 thread) -> FetchedPartition, one each -> KafkaReader, some partitions each -> batches
 * </pre>
 */
package dev.millrace.connectors.kafka;
