package dev.millrace.connectors.mqtt;

/**
 * As whom a client connects.
 *
 * @param isPersistent whether the broker keeps subscriptions and messages while the client is away
 */
record BrokerSession(String clientId, boolean isPersistent) {}
