/**
 * A server under everything that clients do, for as long as one likes. {@link dev.millrace.cli.soak.SoakTest} runs it in
 * rounds and looks at what is left between them; {@link dev.millrace.cli.soak.SoakClient} is one client.
 */
package dev.millrace.cli.soak;
