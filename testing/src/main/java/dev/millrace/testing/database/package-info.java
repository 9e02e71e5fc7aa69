/**
 * Databases of others as processes, for tests of what speaks to them: PostgreSQL and MariaDB, as they are installed on this machine.
 *
 * <p>Entry: {@link dev.millrace.testing.database.DatabaseServer}. A test asks whether there is one, and says so where it is skipped.
 */
package dev.millrace.testing.database;
