package dev.millrace.jdbc;

import java.sql.Connection;
import java.sql.SQLException;

/** Opens one more connection of pgjdbc's to the same database as the same user. */
@FunctionalInterface
interface Endpoint {
    Connection open() throws SQLException;
}
