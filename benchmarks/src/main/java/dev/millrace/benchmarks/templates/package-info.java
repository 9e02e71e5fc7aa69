/** How many standing queries a machine bears that differ in values alone (Pluto, dissertation §3.5): {@code ./millrace bench templates}. */
package dev.millrace.benchmarks.templates;
