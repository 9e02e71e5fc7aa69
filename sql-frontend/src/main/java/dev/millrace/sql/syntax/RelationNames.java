package dev.millrace.sql.syntax;

import java.util.List;

/** How names of relations are written down: dotted, without the schema {@code public}. */
public final class RelationNames {
    private RelationNames() {}

    public static String of(List<String> parts) {
        return parts.size() > 1 && parts.get(0).equals("public")
                ? String.join(".", parts.subList(1, parts.size()))
                : String.join(".", parts);
    }
}
