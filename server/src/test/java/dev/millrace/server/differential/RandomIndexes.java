package dev.millrace.server.differential;

import dev.millrace.type.DataType;
import dev.millrace.type.Field;
import java.util.ArrayList;
import java.util.List;

/** Indexes on random columns of a table, or none. */
final class RandomIndexes {
    private RandomIndexes() {}

    /** Statements, each behind a semicolon. */
    static String on(Chance chance, String table) {
        StringBuilder statements = new StringBuilder();
        for (int left = chance.percent(50) ? chance.between(1, 4) : 0; left > 0; left--) {
            List<String> columns = new ArrayList<>(RandomRows.SCHEMA.fields().stream()
                    .filter(field -> field.type().kind() != DataType.Kind.NULL)
                    .map(Field::name)
                    .toList());
            List<String> keys = new ArrayList<>();
            for (int keysLeft = chance.between(1, 3); keysLeft > 0; keysLeft--) {
                keys.add(columns.remove(chance.between(0, columns.size() - 1))
                        + chance.of("", "", " DESC", " NULLS FIRST"));
            }
            statements.append("; CREATE INDEX ON ").append(table).append(" (");
            statements.append(String.join(", ", keys)).append(")");
        }
        return statements.toString();
    }
}
