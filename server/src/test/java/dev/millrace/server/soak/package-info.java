/**
 * A server under everything that clients do, for as long as one likes. {@link dev.millrace.server.soak.SoakTest} runs it in
 * rounds and looks at what is left between them; {@link dev.millrace.server.soak.SoakClient} is one client.
 */
package dev.millrace.server.soak;
