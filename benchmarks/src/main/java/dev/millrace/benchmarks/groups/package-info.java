/** What many ordinary queries on one stream cost. Entry: {@link dev.millrace.benchmarks.groups.QueryGroupsCommand}. */
package dev.millrace.benchmarks.groups;
