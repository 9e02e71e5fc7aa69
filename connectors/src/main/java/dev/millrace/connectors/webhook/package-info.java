/**
 * Streams whose records others POST to the database's own HTTP port.
 *
 * <p>Entry: {@link dev.millrace.connectors.webhook.WebhookSourceFactory} for statements, {@link dev.millrace.connectors.webhook.Webhooks} for the server, which
 * finds a stream's {@link dev.millrace.connectors.webhook.Webhook} by the path of a request, and waits on the request's thread until its records are kept.
 */
package dev.millrace.connectors.webhook;
