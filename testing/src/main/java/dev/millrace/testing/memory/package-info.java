/**
 * Memory that tests can trust to show mistakes: poisoned when allocated and when freed, and counted at the end.
 *
 * <p>Entry: {@link dev.millrace.testing.memory.LeakCheck}.
 */
package dev.millrace.testing.memory;
