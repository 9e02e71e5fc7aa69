/** A real MQTT broker in the test's own process. */
package dev.millrace.testing.mqtt;
