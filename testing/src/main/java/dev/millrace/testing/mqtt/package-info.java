/** A real MQTT broker in a process of its own, and others who speak with it. */
package dev.millrace.testing.mqtt;
