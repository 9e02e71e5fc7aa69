/** What streams from an MQTT broker and sinks to it take, beside what the broker gives to a client that does nothing. */
package dev.millrace.benchmarks.mqtt;
