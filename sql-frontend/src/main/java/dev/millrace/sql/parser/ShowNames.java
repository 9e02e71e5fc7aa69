package dev.millrace.sql.parser;

import dev.millrace.sql.text.Identifiers;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * SHOW of names alone, as RisingWave has it: of databases, schemas, secrets and subscriptions, and of what is in one schema. Each is short
 * for a query of the catalog.
 */
final class ShowNames {
    /** Words behind SHOW, and what {@code rw_relations} calls it. */
    private static final Map<String, String> IN_SCHEMAS = new LinkedHashMap<>();

    /** Words behind SHOW, and the relation and column of the names. */
    private static final Map<String, String[]> BY_THEMSELVES = Map.of(
            "databases", new String[] {"pg_catalog.pg_database", "datname"},
            "schemas", new String[] {"pg_catalog.pg_namespace", "nspname"},
            "secrets", new String[] {"millrace.secrets", "name"},
            "subscriptions", new String[] {"millrace.subscriptions", "name"});

    static {
        IN_SCHEMAS.put("materialized views", "materialized view");
        IN_SCHEMAS.put("tables", "table");
        IN_SCHEMAS.put("views", "view");
        IN_SCHEMAS.put("sinks", "sink");
        IN_SCHEMAS.put("sources", "source");
        IN_SCHEMAS.put("streams", "source");
    }

    private final Words words;

    ShowNames(Words words) {
        this.words = words;
    }

    /** The query, behind SHOW; empty, at the same place, for what is listed with more than its name. */
    Optional<String> query() {
        int start = words.place();
        for (Map.Entry<String, String[]> kind : BY_THEMSELVES.entrySet()) {
            if (words.accept(kind.getKey())) {
                String name = kind.getValue()[1];
                return Optional.of("SELECT " + name + " AS \"Name\" FROM " + kind.getValue()[0] + " WHERE " + like(name)
                        + " ORDER BY " + name);
            }
        }
        for (Map.Entry<String, String> kind : IN_SCHEMAS.entrySet()) {
            if (words.acceptAll(kind.getKey().split(" "))) {
                boolean from = words.accept("from");
                if (from || words.peek().isWord("like")) {
                    String schema = from ? " AND n.nspname = " + Identifiers.quoteText(words.name()) : "";
                    return Optional.of("SELECT quote_ident(n.nspname) || '.' || quote_ident(r.name) AS \"Name\" FROM"
                            + " rw_catalog.rw_relations AS r JOIN pg_catalog.pg_namespace AS n ON n.oid = r.schema_id"
                            + " WHERE r.relation_type = '" + kind.getValue() + "'" + schema + " AND " + like("r.name")
                            + " ORDER BY n.nspname, r.name");
                }
                words.backTo(start);
                return Optional.empty();
            }
        }
        return Optional.empty();
    }

    private String like(String name) {
        return words.accept("like") ? name + " LIKE " + Identifiers.quoteText(words.string()) : "TRUE";
    }
}
