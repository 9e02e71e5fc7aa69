/** The sub-command {@code edge}: an agent. Entry: {@link dev.millrace.cli.edge.EdgeCommand}; what it is made of is the module edge-ingest. */
package dev.millrace.cli.edge;
