package dev.millrace.jdbc;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The program of docs/jdbc.md; then the names of threads that keep a JVM alive. */
final class FirstProgram {
    private FirstProgram() {}

    public static void main(String[] args) throws SQLException {
        try (Connection connection = DriverManager.getConnection("jdbc:millrace:");
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("SELECT 40 + 2")) {
            while (rows.next()) {
                System.out.println(rows.getInt(1));
            }
        }
        Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !thread.isDaemon() && thread != Thread.currentThread())
                .map(Thread::getName)
                .sorted()
                .forEach(System.out::println);
    }
}
