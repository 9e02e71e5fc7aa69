/** The server as a whole. Entry: {@link dev.millrace.server.RunningServer}. */
package dev.millrace.server;
