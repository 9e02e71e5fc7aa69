package dev.millrace.server.catalog;

import dev.millrace.plan.expression.OrderKey;
import dev.millrace.sql.catalog.RelationNames;
import dev.millrace.sql.text.Identifiers;
import dev.millrace.type.Schema;
import java.util.List;
import java.util.stream.Collectors;

/**
 * An index that somebody created.
 *
 * @param relation the table or materialized view
 * @param method as it was asked for: {@code btree} or {@code hash}; both are ordered
 * @param unique whether no two rows have its columns in common
 * @param keys columns of the relation, in the order of the index
 */
public record Index(String name, String relation, String method, boolean unique, List<OrderKey> keys) {
    public Index {
        keys = List.copyOf(keys);
    }

    /** The name without the schema, which is its relation's. */
    private String plainName() {
        String schema = RelationNames.prefix(relation);
        return !schema.isEmpty() && name.startsWith(schema + ".") ? name.substring(schema.length() + 1) : name;
    }

    /** Its columns. */
    public List<Integer> columns() {
        return keys.stream().map(OrderKey::column).toList();
    }

    /** The statement that makes it. */
    public String definition(Schema schema) {
        return "CREATE " + (unique ? "UNIQUE " : "") + "INDEX " + Identifiers.quote(plainName()) + " ON "
                + RelationNames.quoted(relation) + " USING " + method + " (" + columnTexts(schema) + ")";
    }

    /** What stands in the parentheses. */
    public String columnTexts(Schema schema) {
        return keys.stream().map(key -> text(key, schema)).collect(Collectors.joining(", "));
    }

    private static String text(OrderKey key, Schema schema) {
        return Identifiers.quote(schema.field(key.column()).name())
                + (key.descending() ? " DESC" : "")
                + (key.nullsFirst() == key.descending() ? "" : key.nullsFirst() ? " NULLS FIRST" : " NULLS LAST");
    }

    /** The same with other columns, as the relation has them now. */
    public Index withKeys(List<OrderKey> newKeys) {
        return new Index(name, relation, method, unique, newKeys);
    }

    public Index named(String newName) {
        return new Index(newName, relation, method, unique, keys);
    }
}
