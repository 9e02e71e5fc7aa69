/** What reading from and writing to Kafka costs, with a broker in the same process. */
package dev.millrace.benchmarks.kafka;
