/**
 * How the work of one session is stopped: by a request, by a deadline, or because its planning hears nothing.
 *
 * <p>Entry: {@link dev.millrace.server.cancellation.Cancellation} for the steps of a statement, {@link
 * dev.millrace.server.cancellation.Deadlines} for its timeouts, {@link dev.millrace.server.cancellation.Offload} for what is
 * left behind when it does not stop. It knows neither sessions nor statements.
 */
package dev.millrace.server.cancellation;
